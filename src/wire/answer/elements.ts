/**
 * What has been written of each contract: made when it is first needed, dropped
 * with its contract. A contract never changes, one that is reassigned is another.
 * Field by field, by hand: to have the library do it would cost ten times as
 * much, and most contracts are disclosed a few times at most. A test holds every
 * byte against the library.
 */
import type { JsonObject } from "@bufbuild/protobuf";
import { derived } from "../../registry/derived.js";
import type { Contract } from "../../registry/registry.js";
import { synchronizerOf } from "../../service/answers.js";
import type { Variant } from "../../service/context-reply.js";
import { type Octets, utf8, whole } from "./octets.js";
import { delimited, text } from "./protobuf.js";
import { structOf } from "./struct.js";

/** How often a contract was written, by form: each at most once in one form. */
export const made = { json: 0, binary: 0 };

/** What is written of a contract in each form in which it may be disclosed. */
type Elements = Readonly<Record<Variant, (contract: Contract) => Octets>>;

/**
 * An element of `disclosedContracts` in JSON, with a comma behind it. Each form in
 * one piece, though two forms have much in common: to put one more piece into an
 * answer takes as long as to copy a kilobyte.
 */
export const jsonIn: Elements = {
  plain: derived((contract) => jsonElement(standardJson(contract))),
  debug: derived((contract) => {
    const { packageName } = contract.kind;
    const name = fields({ debugPackageName: packageName });
    // The payload is JSON already.
    const payload = `"debugPayload":${contract.payload}`;
    return jsonElement(
      `${standardJson(contract)},${name},${payload},${fields({ debugCreatedAt: contract.createdAt })}`,
    );
  }),
  utility: derived((contract) => {
    const { contractId, templateId, createdEventBlob, createdAt } = contract;
    const synchronizerId = synchronizerOf(contract);
    const written = { contractId, templateId, createdEventBlob, createdAt, synchronizerId, domainId: synchronizerId };
    return jsonElement(fields(written));
  }),
};

function jsonElement(content: string): Octets {
  made.json++;
  return whole(utf8(`{${content}},`));
}

/** The fields that the token standard has. */
function standardJson(contract: Contract): string {
  const { templateId, contractId, createdEventBlob } = contract;
  return fields({ templateId, contractId, createdEventBlob, synchronizerId: synchronizerOf(contract) });
}

const fields = (texts: Readonly<Record<string, string>>): string => JSON.stringify(texts).slice(1, -1);

/** The field of a choice context in which the contracts stand, in both families of operations. */
const DISCLOSED_CONTRACTS = 2;

/** An element of `disclosed_contracts` in protobuf, with the head of its field. */
export const binaryIn: Elements = {
  plain: derived((contract) => element(standardBinary(contract))),
  debug: derived((contract) => element(standardBinary(contract) + debugBinary(contract))),
  utility: derived((contract) => {
    const { contractId, templateId, createdEventBlob, createdAt } = contract;
    const synchronizerId = synchronizerOf(contract);
    return element(texts(contractId, templateId, createdEventBlob, createdAt, synchronizerId, synchronizerId));
  }),
};

function element(content: Octets): Octets {
  made.binary++;
  return whole(delimited(DISCLOSED_CONTRACTS, content));
}

function standardBinary(contract: Contract): Octets {
  return texts(contract.templateId, contract.contractId, contract.createdEventBlob, synchronizerOf(contract));
}

function debugBinary({ kind: { packageName }, payload, createdAt }: Contract): Octets {
  // What was written as JSON of an object is one again.
  const object = JSON.parse(payload) as JsonObject;
  return text(5, packageName) + delimited(6, structOf(object)) + text(7, createdAt);
}

/** Fields of text from number 1 on; an empty one is not written, which stands for it. */
const texts = (...values: readonly string[]): Octets =>
  values.map((value, index) => (value === "" ? "" : text(index + 1, value))).join("");
