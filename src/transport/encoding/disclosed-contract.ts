// Encodes each disclosed contract once per form, on first use. The encoding is dropped with the contract, which never
// changes: a reassigned one is a new object. Fields are written by hand, at a tenth of the cost of the library; a test
// compares every byte. Can go when the library encodes a contract in less than a microsecond.
import type { JsonObject } from "@bufbuild/protobuf";
import type { Contract } from "../../domain/contract.js";
import { memoizeByContract } from "../../domain/contract-slots.js";
import type { Variant } from "../../service/messages/context-reply.js";
import { synchronizerOf } from "../../service/messages/context.js";
import { type BinaryString, binaryStringOf, flatten, utf8 } from "./binary-string.js";
import { delimited, text, written } from "./protobuf.js";
import { writeStruct } from "./struct.js";

/** Encodings made. For tests: each contract counts at most once per form. */
export const encodeCounts = { json: 0, binary: 0 };

export type EncodeElement = (contract: Contract) => BinaryString;
type Encoders = Readonly<Record<Variant, EncodeElement>>;

/** An element of `disclosedContracts` with a comma, in one string: another chunk costs as much as copying 1 KB. */
export const jsonElement: Encoders = {
  plain: memoizeByContract((contract) => encodeJson(standardJson(contract))),
  debug: memoizeByContract((contract) => {
    const packageName = fields({ debugPackageName: contract.template.packageName });
    const payload = `"debugPayload":${contract.payload}`;
    const createdAt = fields({ debugCreatedAt: contract.createdAt });
    return encodeJson(`${standardJson(contract)},${packageName},${payload},${createdAt}`);
  }),
  utility: memoizeByContract((contract) => {
    const { contractId, templateId, createdEventBlob, createdAt } = contract;
    const synchronizerId = synchronizerOf(contract);
    return encodeJson(
      fields({ contractId, templateId, createdEventBlob, createdAt, synchronizerId, domainId: synchronizerId }),
    );
  }),
};

function encodeJson(content: string): BinaryString {
  encodeCounts.json++;
  return flatten(utf8(`{${content}},`));
}

function standardJson(contract: Contract): string {
  const { templateId, contractId, createdEventBlob } = contract;
  return fields({ templateId, contractId, createdEventBlob, synchronizerId: synchronizerOf(contract) });
}

const fields = (values: Readonly<Record<string, string>>): string => JSON.stringify(values).slice(1, -1);

const DISCLOSED_CONTRACTS = 2;

/** An element of `disclosed_contracts` in protobuf, with its tag and length. */
export const binaryElement: Encoders = {
  plain: memoizeByContract((contract) => encodeBinary(standardBinary(contract))),
  debug: memoizeByContract((contract) => encodeBinary(standardBinary(contract) + debugBinary(contract))),
  utility: memoizeByContract((contract) => {
    const { contractId, templateId, createdAt } = contract;
    const synchronizerId = synchronizerOf(contract);
    const blob = createdEvent(contract);
    return encodeBinary(fieldsOf(contractId, templateId, blob, createdAt, synchronizerId, synchronizerId));
  }),
};

function encodeBinary(content: BinaryString): BinaryString {
  encodeCounts.binary++;
  return flatten(delimited(DISCLOSED_CONTRACTS, content));
}

function standardBinary(contract: Contract): BinaryString {
  return fieldsOf(contract.templateId, contract.contractId, createdEvent(contract), synchronizerOf(contract));
}

function debugBinary({ template: { packageName }, payload, createdAt }: Contract): BinaryString {
  // The payload was written by JSON.stringify of an object.
  const object = JSON.parse(payload) as JsonObject;
  return (
    text(5, packageName) +
    delimited(
      6,
      written((writer) => writeStruct(writer, object)),
    ) +
    text(7, createdAt)
  );
}

/** The bytes of the created event, marked as bytes among texts. */
const createdEvent = ({ createdEventBlob }: Contract) => ({ bytes: Buffer.from(createdEventBlob, "base64") });

/** Texts and bytes as fields numbered from 1. An empty one is the default and not written. */
const fieldsOf = (...values: readonly (string | { readonly bytes: Uint8Array })[]): BinaryString =>
  values
    .map((value) => (typeof value === "string" ? utf8(value) : binaryStringOf(value.bytes)))
    .map((value, index) => (value === "" ? "" : delimited(index + 1, value)))
    .join("");
