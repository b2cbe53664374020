/**
 * What has been written of each contract: made when it is first needed, dropped
 * with its contract. A contract never changes, one that is reassigned is another.
 */
import { create, toBinary, toJsonString } from "@bufbuild/protobuf";
import {
  ChoiceContextSchema,
  DisclosedContractSchema,
} from "../../../gen/offledger/choice_context/v1/choice_context_pb.js";
import {
  ChoiceContextSchema as UtilityChoiceContextSchema,
  DisclosedContractSchema as UtilityDisclosedContractSchema,
} from "../../../gen/offledger/utility/v0/choice_context_pb.js";
import { derived } from "../../registry/derived.js";
import type { Contract } from "../../registry/registry.js";
import { disclosed, disclosedByUtility } from "../../service/answers.js";
import type { Variant } from "../../service/context-reply.js";
import { jsonWriting } from "./json-writing.js";
import { type Octets, octetsOf, utf8 } from "./octets.js";

/** How often a contract was written, by form: each at most once in one form. */
export const made = { json: 0, binary: 0 };

/** Adds an element of `disclosedContracts`, in JSON, in one or two pieces. */
export function pushJson(contract: Contract, variant: Variant, into: Octets[]): void {
  switch (variant) {
    case "plain":
      into.push(head(contract), "}");
      break;
    case "debug":
      into.push(head(contract), debugFields(contract));
      break;
    case "utility":
      into.push(utilityJson(contract));
  }
}

/** The element without debug fields, but for its closing brace: it begins the one with them. */
const head = derived((contract) => {
  made.json++;
  return standardJson(contract, true).slice(0, -1);
});

/** What the element has behind that with debug fields. */
const debugFields = derived((contract) => {
  made.json++;
  return ownCopy(standardJson(contract, false).slice(head(contract).length));
});

const utilityJson = derived((contract) => {
  made.json++;
  const message = create(UtilityDisclosedContractSchema, disclosedByUtility(contract));
  return utf8(toJsonString(UtilityDisclosedContractSchema, message, jsonWriting));
});

function standardJson(contract: Contract, excludeDebugFields: boolean): Octets {
  const message = create(DisclosedContractSchema, disclosed(contract, excludeDebugFields));
  return utf8(toJsonString(DisclosedContractSchema, message, jsonWriting));
}

/** A part of a text would keep the whole of it. */
const ownCopy = (part: Octets): Octets => Buffer.from(part, "latin1").toString("latin1");

/** An element of `disclosed_contracts` in protobuf, with the tag of its field: a message of this one field. */
export function binaryOf(contract: Contract, variant: Variant): Octets {
  return binary[variant](contract);
}

const binary: Readonly<Record<Variant, (contract: Contract) => Octets>> = {
  debug: derived((contract) => standardBinary(contract, false)),
  plain: derived((contract) => standardBinary(contract, true)),
  utility: derived((contract) => {
    made.binary++;
    const message = create(UtilityChoiceContextSchema, { disclosedContracts: [disclosedByUtility(contract)] });
    return octetsOf(toBinary(UtilityChoiceContextSchema, message));
  }),
};

function standardBinary(contract: Contract, excludeDebugFields: boolean): Octets {
  made.binary++;
  const message = create(ChoiceContextSchema, { disclosedContracts: [disclosed(contract, excludeDebugFields)] });
  return octetsOf(toBinary(ChoiceContextSchema, message));
}
