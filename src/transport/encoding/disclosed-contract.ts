/**
 * Disclosed contracts, each encoded once per form, on first use. The encoding is dropped with the contract, which never changes:
 * a reassigned one is a new object. Fields are written by hand, at a tenth of the cost of the library; a test compares every
 * byte. Can go when the library encodes a contract in less than a microsecond.
 */
import { fromJson, type JsonObject, toBinary } from "@bufbuild/protobuf";
import { StructSchema } from "@bufbuild/protobuf/wkt";
import { WireType } from "@bufbuild/protobuf/wire";
import { type Body, type Contract, memoizeByContract, synchronizerOf } from "../../domain/contract.js";

/**
 * One character per byte ("latin1"). Unlike small buffers it stays in V8's heap: with 400,000 contracts, each disclosed
 * once, buffers take 2.4 times the CPU because of major collections.
 */
export type BinaryString = string;

// eslint-disable-next-line no-control-regex -- ASCII starts with control characters
const beyondAscii = /[^\u0000-\u007f]/;

export const utf8 = (text: string): BinaryString =>
  beyondAscii.test(text) ? Buffer.from(text).toString("latin1") : text;

export const binaryStringOf = (bytes: Uint8Array): BinaryString =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");

/** The bytes of all pieces, behind `prefix` bytes with any content. To concatenate large strings first costs four times as much. */
export function toBuffer(pieces: readonly BinaryString[], prefix = 0): Buffer {
  const buffer = Buffer.allocUnsafe(prefix + lengthOf(pieces));
  let end = prefix;
  for (const piece of pieces) end += buffer.write(piece, end, "latin1");
  return buffer;
}

export const lengthOf = (pieces: readonly BinaryString[]): number =>
  pieces.reduce((sum, { length }) => sum + length, 0);

/** Copies a concatenated string into one piece: otherwise V8 keeps a rope of its parts and walks it at each use. */
const flatten = (binary: BinaryString): BinaryString => Buffer.from(binary, "latin1").toString("latin1");

/** A field with a string, bytes or a message. */
export const delimited = (fieldNumber: number, content: BinaryString): BinaryString =>
  prefixOf(fieldNumber, content.length) + content;

/** What stands before a field of a length. */
export const prefixOf = (fieldNumber: number, length: number): BinaryString =>
  String.fromCharCode((fieldNumber << 3) | WireType.LengthDelimited) + varint(length);

export const text = (fieldNumber: number, value: string): BinaryString => delimited(fieldNumber, utf8(value));

export const varintField = (fieldNumber: number, value: number): BinaryString =>
  String.fromCharCode(fieldNumber << 3) + varint(value);

function varint(value: number): BinaryString {
  let binary = "";
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) binary += String.fromCharCode((rest % 128) | 128);
  return binary + String.fromCharCode(rest);
}

/** The form of disclosed contracts: the token standard's with or without debug fields, or the utility operations'. */
export type Variant = "debug" | "plain" | "utility";

type EncodeElement = (contract: Contract) => BinaryString;
type Encoders = Readonly<Record<Variant, EncodeElement>>;

/** An element of `disclosedContracts` with a comma before it. */
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

const encodeJson = (content: string): BinaryString => flatten(utf8(`,{${content}}`));

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
