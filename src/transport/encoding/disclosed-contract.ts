// Encodes each disclosed contract once per form, on first use. The encoding is dropped with the contract, which never
// changes: a reassigned one is a new object. Fields are written by hand, at a tenth of the cost of the library; a test
// compares every byte. Can go when the library encodes a contract in less than a microsecond.
import { fromJson, type JsonObject, toBinary } from "@bufbuild/protobuf";
import { StructSchema } from "@bufbuild/protobuf/wkt";
import { type Body, type Contract, memoizeByContract, synchronizerOf } from "../../domain/contract.js";
import { type BinaryString, binaryStringOf, delimited, flatten, text, utf8 } from "./chunks.js";

/** The form of disclosed contracts: the token standard's with or without debug fields, or the utility operations'. */
export type Variant = "debug" | "plain" | "utility";

type EncodeElement = (contract: Contract) => BinaryString;
type Encoders = Readonly<Record<Variant, EncodeElement>>;

/** An element of `disclosedContracts` with a comma, in one string: another chunk costs as much as copying 1 KB. */
export const jsonElement: Encoders = {
  plain: memoizeByContract((contract, body) => encodeJson(standardJson(contract, body))),
  debug: memoizeByContract((contract, body) => {
    const packageName = fields({ debugPackageName: contract.template.packageName });
    const payload = `"debugPayload":${body.payload}`;
    const createdAt = fields({ debugCreatedAt: contract.createdAt });
    return encodeJson(`${standardJson(contract, body)},${packageName},${payload},${createdAt}`);
  }),
  utility: memoizeByContract((contract, { createdEventBlob }) => {
    const { contractId, templateId, createdAt } = contract;
    const synchronizerId = synchronizerOf(contract);
    return encodeJson(
      fields({ contractId, templateId, createdEventBlob, createdAt, synchronizerId, domainId: synchronizerId }),
    );
  }),
};

const encodeJson = (content: string): BinaryString => flatten(utf8(`{${content}},`));

function standardJson(contract: Contract, { createdEventBlob }: Body): string {
  const { templateId, contractId } = contract;
  return fields({ templateId, contractId, createdEventBlob, synchronizerId: synchronizerOf(contract) });
}

const fields = (values: Readonly<Record<string, string>>): string => JSON.stringify(values).slice(1, -1);

const DISCLOSED_CONTRACTS = 2;

/** An element of `disclosed_contracts` in protobuf, with its tag and length. */
export const binaryElement: Encoders = {
  plain: memoizeByContract((contract, body) => encodeBinary(standardBinary(contract, body))),
  debug: memoizeByContract((contract, body) =>
    encodeBinary(standardBinary(contract, body) + debugBinary(contract, body)),
  ),
  utility: memoizeByContract((contract, body) => {
    const { contractId, templateId, createdAt } = contract;
    const synchronizerId = synchronizerOf(contract);
    const blob = createdEvent(body);
    return encodeBinary(fieldsOf(contractId, templateId, blob, createdAt, synchronizerId, synchronizerId));
  }),
};

const encodeBinary = (content: BinaryString): BinaryString => flatten(delimited(DISCLOSED_CONTRACTS, content));

function standardBinary(contract: Contract, body: Body): BinaryString {
  return fieldsOf(contract.templateId, contract.contractId, createdEvent(body), synchronizerOf(contract));
}

function debugBinary({ template: { packageName }, createdAt }: Contract, { payload }: Body): BinaryString {
  // The payload was written by JSON.stringify of an object.
  const struct = toBinary(StructSchema, fromJson(StructSchema, JSON.parse(payload) as JsonObject));
  return text(5, packageName) + delimited(6, binaryStringOf(struct)) + text(7, createdAt);
}

/** The bytes of the created event, marked as bytes among texts. */
const createdEvent = ({ createdEventBlob }: Body) => ({ bytes: Buffer.from(createdEventBlob, "base64") });

/** Texts and bytes as fields numbered from 1. An empty one is the default and not written. */
const fieldsOf = (...values: readonly (string | { readonly bytes: Uint8Array })[]): BinaryString =>
  values
    .map((value) => (typeof value === "string" ? utf8(value) : binaryStringOf(value.bytes)))
    .map((value, index) => (value === "" ? "" : delimited(index + 1, value)))
    .join("");

/** Field numbers of google.protobuf.Value. */
export const VALUE = { null: 1, number: 2, string: 3, bool: 4, struct: 5, list: 6 } as const;
/** Field numbers of Struct, of ListValue, and of an entry of Struct's map. */
export const STRUCT_FIELDS = 1;
export const LIST_VALUES = 1;
export const ENTRY_KEY = 1;
export const ENTRY_VALUE = 2;
