/**
 * What has been written of each contract. A piece is made when it is first
 * needed and dropped with its contract: a contract never changes, one that is
 * reassigned is another.
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
import type { Contract } from "../../registry/registry.js";
import { disclosed, disclosedByUtility } from "../../service/answers.js";
import type { Variant } from "../../service/context-reply.js";
import { jsonWriting } from "./json-writing.js";

type Form = "json" | "binary";
type Pieces = { [F in `${Form} ${Variant}`]?: Buffer };

const pieces = new WeakMap<Contract, Pieces>();

/** How many pieces were made, by form: each contract has at most one of each. */
export const made = { json: 0, binary: 0 };

/** An element of `disclosedContracts`, in JSON. */
export function jsonOf(contract: Contract, variant: Variant): Buffer {
  return pieceOf(contract, `json ${variant}`, () => {
    made.json++;
    return Buffer.from(
      variant === "utility"
        ? toJsonString(
            UtilityDisclosedContractSchema,
            create(UtilityDisclosedContractSchema, disclosedByUtility(contract)),
            jsonWriting,
          )
        : toJsonString(
            DisclosedContractSchema,
            create(DisclosedContractSchema, disclosed(contract, variant === "plain")),
            jsonWriting,
          ),
    );
  });
}

/** An element of `disclosed_contracts` in protobuf, with the tag of its field. */
export function binaryOf(contract: Contract, variant: Variant): Buffer {
  return pieceOf(contract, `binary ${variant}`, () => {
    made.binary++;
    // A message of this one field is the piece.
    return Buffer.from(
      variant === "utility"
        ? toBinary(
            UtilityChoiceContextSchema,
            create(UtilityChoiceContextSchema, { disclosedContracts: [disclosedByUtility(contract)] }),
          )
        : toBinary(
            ChoiceContextSchema,
            create(ChoiceContextSchema, { disclosedContracts: [disclosed(contract, variant === "plain")] }),
          ),
    );
  });
}

function pieceOf(contract: Contract, name: keyof Pieces, make: () => Buffer): Buffer {
  let ofContract = pieces.get(contract);
  if (ofContract === undefined) pieces.set(contract, (ofContract = {}));
  return (ofContract[name] ??= make());
}
