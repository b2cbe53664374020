/**
 * What has been written of each contract: made when it is first needed, dropped
 * with its contract. A contract never changes, one that is reassigned is another.
 * Field by field, by hand: to have the library do it would cost ten times as
 * much, and most contracts are disclosed a few times at most. A test holds every
 * byte against the library.
 */
import type { JsonObject } from "@bufbuild/protobuf";
import { memoizeByContract } from "../../domain/contract-slots.js";
import type { Contract } from "../../registry/sdk/registry.js";
import { synchronizerOf } from "../../service/messages.js";
import type { Variant } from "../../service/context-reply.js";
import { type BinaryString, utf8, flatten } from "./binary-string.js";
import { delimited, text } from "./protobuf.js";
import { structOf } from "./struct.js";

/** How often a contract was written, by form: each at most once in one form. */
export const encodeCounts = { json: 0, binary: 0 };

/** What is written of a contract in each form in which it may be disclosed. */
type Elements = Readonly<Record<Variant, (contract: Contract) => BinaryString>>;

/**
 * An element of `disclosedContracts` in JSON, with a comma behind it. Each form in
 * one piece, though two forms have much in common: to put one more piece into an
 * answer takes as long as to copy a kilobyte.
 */
export const jsonElement: Elements = {
  plain: memoizeByContract((contract) => encodeJson(standardJson(contract))),
  debug: memoizeByContract((contract) => {
    const { packageName } = contract.template;
    const name = fields({ debugPackageName: packageName });
    // The payload is JSON already.
    const payload = `"debugPayload":${contract.payload}`;
    return encodeJson(`${standardJson(contract)},${name},${payload},${fields({ debugCreatedAt: contract.createdAt })}`);
  }),
  utility: memoizeByContract((contract) => {
    const { contractId, templateId, createdEventBlob, createdAt } = contract;
    const synchronizerId = synchronizerOf(contract);
    const written = { contractId, templateId, createdEventBlob, createdAt, synchronizerId, domainId: synchronizerId };
    return encodeJson(fields(written));
  }),
};

function encodeJson(content: string): BinaryString {
  encodeCounts.json++;
  return flatten(utf8(`{${content}},`));
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
export const binaryElement: Elements = {
  plain: memoizeByContract((contract) => encodeBinary(standardBinary(contract))),
  debug: memoizeByContract((contract) => encodeBinary(standardBinary(contract) + debugBinary(contract))),
  utility: memoizeByContract((contract) => {
    const { contractId, templateId, createdEventBlob, createdAt } = contract;
    const synchronizerId = synchronizerOf(contract);
    return encodeBinary(texts(contractId, templateId, createdEventBlob, createdAt, synchronizerId, synchronizerId));
  }),
};

function encodeBinary(content: BinaryString): BinaryString {
  encodeCounts.binary++;
  return flatten(delimited(DISCLOSED_CONTRACTS, content));
}

function standardBinary(contract: Contract): BinaryString {
  return texts(contract.templateId, contract.contractId, contract.createdEventBlob, synchronizerOf(contract));
}

function debugBinary({ template: { packageName }, payload, createdAt }: Contract): BinaryString {
  // What was written as JSON of an object is one again.
  const object = JSON.parse(payload) as JsonObject;
  return text(5, packageName) + delimited(6, structOf(object)) + text(7, createdAt);
}

/** Fields of text from number 1 on; an empty one is not written, which stands for it. */
const texts = (...values: readonly string[]): BinaryString =>
  values.map((value, index) => (value === "" ? "" : text(index + 1, value))).join("");
