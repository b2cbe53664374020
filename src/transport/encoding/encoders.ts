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
import type { ContextResult, FactoryResult, TransferFactoryResult } from "../../domain/choice-context.js";
import type { JsonObject, JsonValue } from "../../util/json.js";
import { contextJson } from "../../service/messages.js";
import {
  binaryElement,
  binaryStringOf,
  type BinaryString,
  delimited,
  jsonElement,
  lengthOf,
  prefixOf,
  text,
  toBuffer,
  utf8,
  type Variant,
  varintField,
} from "./disclosed-contract.js";

/** JSON of REST and RPC: required fields are written even where they are empty. */
export const JSON_WRITE_OPTIONS = { alwaysEmitImplicit: true } as const;

/** 132 bits of the digest. */
const ETAG_LENGTH = 22;

/** A response, whose pieces are joined when it is sent. */
export type Pieces = readonly BinaryString[];

export interface Encoder {
  json(result: object): Pieces;
  binary(result: object): Pieces;
  /** The entity tag; weak because all encodings have the same. */
  etag(result: object): string;
}

const etagOf = (identity: BinaryString): string =>
  `W/"${hash("sha256", toBuffer([identity]), "base64url").slice(0, ETAG_LENGTH)}"`;

const contextEncoder = (variant: Variant): Encoder => ({
  json: (result) => jsonOf(result as EncodedResult, variant),
  binary: (result) => binaryOf(result as EncodedResult, variant),
  etag: (result) => etagOf(identityOf(result as EncodedResult, variant)),
});

/** Results are messages. */
function messageEncoder(output: DescMessage): Encoder {
  const json = (result: object) => utf8(toJsonString(output, result as Message, JSON_WRITE_OPTIONS));
  return {
    json: (result) => [json(result)],
    binary: (result) => [binaryStringOf(toBinary(output, result as Message))],
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

function jsonOf(result: EncodedResult, variant: Variant): Pieces {
  const { factoryId, transferKind, disclosed } = result;
  const kind = transferKind === undefined ? "" : `"transferKind":"${transferKind}",`;
  const factory =
    factoryId === undefined ? "" : `{"factoryId":${utf8(JSON.stringify(factoryId))},${kind}"choiceContext":`;
  const head = `${factory}{"choiceContextData":{"values":${valuesJson(result)}},"disclosedContracts":[`;
  const [first, ...others] = disclosed.map(jsonElement[variant]);
  const contracts = first === undefined ? [] : [first.slice(1), ...others];
  return [head, ...contracts, factoryId === undefined ? "]}" : "]}}"];
}

const valuesJson = (result: EncodedResult): BinaryString => utf8(JSON.stringify(contextJson(result)));

/** What tells a response from every other of its operation: a contract never changes but for its synchronizer. */
const identityOf = (result: EncodedResult, variant: Variant): BinaryString => {
  const { factoryId, transferKind, disclosed } = result;
  const contracts = disclosed.map(({ contractId, synchronizerId }) => [contractId, synchronizerId]);
  return valuesJson(result) + utf8(JSON.stringify([factoryId, transferKind, variant, contracts]));
};

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

function binaryOf(result: EncodedResult, variant: Variant): Pieces {
  const { disclosed, factoryId, transferKind } = result;
  const values = mapOf(VALUES, contextJson(result), anyValue);
  const context = [delimited(CHOICE_CONTEXT_DATA, values), ...disclosed.map(binaryElement[variant])];
  if (factoryId === undefined) return context;
  const kind = transferKind === undefined ? "" : varintField(TRANSFER_KIND, TransferKind[transferKind]);
  const field = transferKind === undefined ? CHOICE_CONTEXT : CHOICE_CONTEXT_OF_TRANSFER;
  return [text(FACTORY_ID, factoryId) + kind + prefixOf(field, lengthOf(context)), ...context];
}

const mapOf = (field: number, entries: JsonObject, encode: (value: JsonValue) => BinaryString): BinaryString =>
  Object.entries(entries)
    .map(([name, value]) => delimited(field, text(1, name) + delimited(2, encode(value))))
    .join("");

function anyValue(json: JsonValue): BinaryString {
  const { tag, value = null } = json as { readonly tag: string; readonly value?: JsonValue };
  return text(TAG, tag) + delimited(PAYLOAD, protobufValue(value));
}

/** As google.protobuf.Value. A context has neither null nor numbers. */
function protobufValue(json: JsonValue): BinaryString {
  if (typeof json === "boolean") return varintField(4, json ? 1 : 0);
  if (Array.isArray(json)) return delimited(6, json.map((one) => delimited(1, protobufValue(one))).join(""));
  if (typeof json === "object" && json !== null) return delimited(5, mapOf(1, json, protobufValue));
  return text(3, String(json));
}
