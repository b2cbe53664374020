/**
 * How the results of an operation are written. A response that discloses contracts is joined from what was encoded once
 * for each of them, byte for byte as the library writes it: JSON as of `toJson`, protobuf as of `toBinary`. The library
 * writes all others.
 */
import { hash } from "node:crypto";
import { create, type DescMessage, type Message, toBinary, toJsonString } from "@bufbuild/protobuf";
import {
  ChoiceContextSchema,
  FactoryWithChoiceContextSchema,
} from "../../../gen/offledger/choice_context/v1/choice_context_pb.js";
import {
  TransferFactoryWithChoiceContext_TransferKind as TransferKind,
  TransferFactoryWithChoiceContextSchema,
} from "../../../gen/offledger/transfer_instruction/v1/transfer_instruction_pb.js";
import { ChoiceContextSchema as UtilityChoiceContextSchema } from "../../../gen/offledger/utility/v0/choice_context_pb.js";
import { FactoryWithChoiceContextSchema as UtilityFactorySchema } from "../../../gen/offledger/utility/v0/factory_pb.js";
import { type Contract, memoizeByContract, peekBody } from "../../domain/contract.js";
import type {
  AnyValue,
  ContextResult,
  FactoryResult,
  NamedValue,
  TransferFactoryResult,
} from "../../domain/choice-context.js";
import { boundedMemoize } from "../../util/memoize.js";
import {
  type BinaryString,
  ChunkList,
  flatten,
  text,
  utf8,
  varintField,
  binaryElement,
  ENTRY_KEY,
  ENTRY_VALUE,
  jsonElement,
  LIST_VALUES,
  STRUCT_FIELDS,
  VALUE,
  type Variant,
} from "./chunks.js";

/** JSON of REST and RPC: required fields are written even where they are empty. */
export const JSON_WRITE_OPTIONS = { alwaysEmitImplicit: true } as const;

/** 132 bits of the digest. */
const ETAG_LENGTH = 22;

export interface Encoder {
  json(result: object): ChunkList;
  binary(result: object): ChunkList;
  /** The entity tag; weak because all encodings have the same. */
  etag(result: object): string;
}

const etagOf = (identity: ChunkList): string =>
  `W/"${hash("sha256", identity.toBuffer(), "base64url").slice(0, ETAG_LENGTH)}"`;

const contextEncoder = (variant: Variant): Encoder => ({
  json: (result) => contextJson(result as EncodedResult, variant),
  binary: (result) => contextBinary(result as EncodedResult, variant),
  etag: (result) => etagOf(contextIdentity(result as EncodedResult, variant)),
});

/** Results are messages. */
function messageEncoder(output: DescMessage): Encoder {
  const json = (result: object) => new ChunkList(utf8(toJsonString(output, result as Message, JSON_WRITE_OPTIONS)));
  return {
    json,
    binary: (result) => new ChunkList(toBinary(output, result as Message)),
    etag: (result) => etagOf(json(result)),
  };
}

const encoders: Readonly<Record<Variant, Encoder>> = {
  debug: contextEncoder("debug"),
  plain: contextEncoder("plain"),
  utility: contextEncoder("utility"),
};

const STANDARD_CONTEXTS: ReadonlySet<DescMessage> = new Set([
  ChoiceContextSchema,
  FactoryWithChoiceContextSchema,
  TransferFactoryWithChoiceContextSchema,
]);
const UTILITY_CONTEXTS: ReadonlySet<DescMessage> = new Set([UtilityChoiceContextSchema, UtilityFactorySchema]);

/** Whether an operation with this output has choice contexts as results, not messages. */
export const hasContext = (output: DescMessage): boolean =>
  STANDARD_CONTEXTS.has(output) || UTILITY_CONTEXTS.has(output);

/** The contracts whose bodies a choice context is encoded from. */
export const disclosedOf = (result: object): EncodedResult["disclosed"] => (result as EncodedResult).disclosed;

/** Selects the encoder for the results of an operation by its request. */
export function encoderOf(output: DescMessage): (request: Message) => Encoder {
  if (STANDARD_CONTEXTS.has(output)) {
    return (request) => (excludesDebugFields(request) ? encoders.plain : encoders.debug);
  }
  const encoder = UTILITY_CONTEXTS.has(output) ? encoders.utility : messageEncoder(output);
  return () => encoder;
}

const excludesDebugFields = (request: Message): boolean =>
  (request as Message & { readonly excludeDebugFields?: boolean }).excludeDebugFields === true;

/** The result of an operation without choice contexts, from what its handler returned. */
export const createMessage = (output: DescMessage, init: object): Message =>
  create<DescMessage>(output, init as Record<string, unknown>);

/** The result of a rule. A factory and its kind of transfer are there if the operation has them. */
export type EncodedResult = ContextResult &
  Partial<Pick<FactoryResult, "factoryId"> & Pick<TransferFactoryResult, "transferKind">>;

// Bytes copy faster than strings encode.
const bytes = (binary: BinaryString): Uint8Array => Buffer.from(binary, "latin1");

const DATA_JSON = bytes('{"choiceContextData":{"values":{');
const CONTRACTS_JSON = bytes('},"disclosedContracts":[');
const LIST_JSON = bytes('{"tag":"AV_List","value":[');
const MAP_JSON = bytes('{"tag":"AV_Map","value":{');
const VALUE_END_JSON = bytes("},");

function contextJson(result: EncodedResult, variant: Variant): ChunkList {
  const { disclosed, factoryId } = result;
  const chunks = headJson(result);
  for (const contract of disclosed) chunks.add(jsonElement[variant](contract));
  chunks.close("]", disclosed.length === 0);
  chunks.add(factoryId === undefined ? "}" : "}}");
  return chunks;
}

/** All before the first contract. */
function headJson({ values, factoryId, transferKind }: EncodedResult): ChunkList {
  const chunks = new ChunkList();
  if (factoryId !== undefined) {
    const kind = transferKind === undefined ? "" : `"transferKind":"${transferKind}",`;
    chunks.add(`{"factoryId":${quoted(factoryId)},${kind}"choiceContext":`);
  }
  chunks.add(DATA_JSON);
  addFieldsJson(chunks, values);
  chunks.add(CONTRACTS_JSON);
  return chunks;
}

/** What tells a response from every other of its operation: a contract never changes but for its synchronizer. */
function contextIdentity(result: EncodedResult, variant: Variant): ChunkList {
  const chunks = headJson(result);
  chunks.add(variant);
  for (const { contractId, synchronizerId } of result.disclosed)
    chunks.add(utf8(JSON.stringify([contractId, synchronizerId])));
  return chunks;
}

/** The entries of an object, after its opening brace. */
function addFieldsJson(chunks: ChunkList, values: readonly NamedValue[]): void {
  for (const { name, alias, value } of inObjectOrder(values)) {
    for (const key of alias === undefined ? [name] : [name, alias]) {
      chunks.add(nameJson(key));
      addValueJson(chunks, value);
    }
  }
  chunks.close("}", values.length === 0);
}

function addValueJson(chunks: ChunkList, value: AnyValue): void {
  switch (value.tag) {
    case "AV_ContractId":
      return chunks.add(value.contract === undefined ? contractIdJson(value.value) : referenceJson(value.contract));
    case "AV_List":
      chunks.add(LIST_JSON);
      for (const element of value.value) addValueJson(chunks, element);
      chunks.close("]", value.value.length === 0);
      return chunks.add(VALUE_END_JSON);
    case "AV_Map":
      chunks.add(MAP_JSON);
      addFieldsJson(chunks, value.value);
      return chunks.add(VALUE_END_JSON);
    default:
      return chunks.add(`{"tag":"${value.tag}","value":${quoted(value.value)}},`);
  }
}

const quoted = (value: string | boolean): BinaryString => utf8(JSON.stringify(value));
const nameJson = boundedMemoize((name) => bytes(`${quoted(name)}:`));
const contractIdJson = (contractId: string): BinaryString => `{"tag":"AV_ContractId","value":${quoted(contractId)}},`;
const referenceJson = ofReferences(({ contractId }) => bytes(contractIdJson(contractId)));

/** Field numbers of ChoiceContext, FactoryWithChoiceContext and TransferFactoryWithChoiceContext. */
const CHOICE_CONTEXT_DATA = 1;
const FACTORY_ID = 1;
const CHOICE_CONTEXT = 2;
const TRANSFER_KIND = 2;
const CHOICE_CONTEXT_OF_TRANSFER = 3;
/** Field numbers of ChoiceContextData and AnyValue. */
const VALUES = 1;
const TAG = 1;
const PAYLOAD = 2;

function contextBinary({ values, disclosed, factoryId, transferKind }: EncodedResult, variant: Variant): ChunkList {
  const chunks = new ChunkList();
  const addContext = () => {
    chunks.addDelimited(CHOICE_CONTEXT_DATA, () => addFieldsBinary(chunks, VALUES, values, addContextValue));
    for (const contract of disclosed) chunks.add(binaryElement[variant](contract));
  };
  if (factoryId === undefined) {
    addContext();
    return chunks;
  }
  chunks.add(text(FACTORY_ID, factoryId));
  if (transferKind !== undefined) chunks.add(varintField(TRANSFER_KIND, TransferKind[transferKind]));
  chunks.addDelimited(transferKind === undefined ? CHOICE_CONTEXT : CHOICE_CONTEXT_OF_TRANSFER, addContext);
  return chunks;
}

type AddValue = (chunks: ChunkList, value: AnyValue) => void;

/** The entries of a map with text keys and message values. */
function addFieldsBinary(chunks: ChunkList, field: number, values: readonly NamedValue[], addValue: AddValue): void {
  for (const { name, alias, value } of inObjectOrder(values)) {
    addEntryBinary(chunks, field, name, () => addValue(chunks, value));
    if (alias !== undefined) addEntryBinary(chunks, field, alias, () => addValue(chunks, value));
  }
}

function addEntryBinary(chunks: ChunkList, field: number, name: string, addValue: () => void): void {
  chunks.addDelimited(field, () => {
    chunks.add(keyField(name));
    chunks.addDelimited(ENTRY_VALUE, addValue);
  });
}

/** As AnyValue, which the values of a context are. */
function addContextValue(chunks: ChunkList, value: AnyValue): void {
  chunks.add(tagField(value.tag));
  chunks.addDelimited(PAYLOAD, () => addPayload(chunks, value));
}

/** Within lists and maps, as google.protobuf.Value: a Struct of tag and value. */
function addStructValue(chunks: ChunkList, value: AnyValue): void {
  if (value.tag === "AV_ContractId" && value.contract !== undefined) chunks.add(referenceBinary(value.contract));
  else addTaggedStruct(chunks, value);
}

function addTaggedStruct(chunks: ChunkList, value: AnyValue): void {
  chunks.addDelimited(VALUE.struct, () => {
    addEntryBinary(chunks, STRUCT_FIELDS, "tag", () => chunks.add(text(VALUE.string, value.tag)));
    addEntryBinary(chunks, STRUCT_FIELDS, "value", () => addPayload(chunks, value));
  });
}

function addPayload(chunks: ChunkList, value: AnyValue): void {
  switch (value.tag) {
    case "AV_List":
      return chunks.addDelimited(VALUE.list, () => {
        for (const element of value.value) chunks.addDelimited(LIST_VALUES, () => addStructValue(chunks, element));
      });
    case "AV_Map":
      return chunks.addDelimited(VALUE.struct, () =>
        addFieldsBinary(chunks, STRUCT_FIELDS, value.value, addStructValue),
      );
    default:
      return chunks.add(
        typeof value.value === "boolean"
          ? varintField(VALUE.bool, value.value ? 1 : 0)
          : text(VALUE.string, value.value),
      );
  }
}

const tagField = boundedMemoize((tag) => flatten(text(TAG, tag)));
const keyField = boundedMemoize((name) => flatten(text(ENTRY_KEY, name)));
/** Encoding each reference of a settlement anew would cost 40 % of its encoding. */
const referenceBinary = ofReferences(({ contractId }) => {
  const chunks = new ChunkList();
  addTaggedStruct(chunks, { tag: "AV_ContractId", value: contractId });
  return chunks.toBuffer();
});

/** Kept with the body, where the contract is disclosed as well. */
function ofReferences(make: (contract: Contract) => Uint8Array): (contract: Contract) => Uint8Array {
  const memoized = memoizeByContract(make);
  return (contract) => (peekBody(contract) === undefined ? make(contract) : memoized(contract));
}

/** In the order of a JavaScript object, as the library writes them: names that look like integers come first. */
function inObjectOrder(values: readonly NamedValue[]): readonly NamedValue[] {
  if (!values.some(({ name, alias }) => isDigit(name) || isDigit(alias ?? ""))) return values;
  const entries = values.flatMap(({ name, alias, value }): [string, NamedValue][] =>
    (alias === undefined ? [name] : [name, alias]).map((key) => [key, { name: key, alias: undefined, value }]),
  );
  return Object.values(Object.fromEntries(entries));
}

const isDigit = (name: string): boolean => name >= "0" && name < ":";
