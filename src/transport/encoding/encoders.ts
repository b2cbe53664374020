/** How the results of an operation are written: choice contexts from the encodings of their contracts, others by the library. */
import { hash } from "node:crypto";
import { create, type DescMessage, type Message, toBinary, toJsonString } from "@bufbuild/protobuf";
import {
  ChoiceContextSchema,
  FactoryWithChoiceContextSchema,
} from "../../../gen/offledger/choice_context/v1/choice_context_pb.js";
import { TransferFactoryWithChoiceContextSchema } from "../../../gen/offledger/transfer_instruction/v1/transfer_instruction_pb.js";
import { ChoiceContextSchema as UtilityChoiceContextSchema } from "../../../gen/offledger/utility/v0/choice_context_pb.js";
import { FactoryWithChoiceContextSchema as UtilityFactorySchema } from "../../../gen/offledger/utility/v0/factory_pb.js";
import { type ContextResult, contextBinary, contextIdentity, contextJson } from "./choice-context.js";
import { ChunkList, utf8 } from "./chunks.js";
import type { Variant } from "./disclosed-contract.js";

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
  json: (result) => contextJson(result as ContextResult, variant),
  binary: (result) => contextBinary(result as ContextResult, variant),
  etag: (result) => etagOf(contextIdentity(result as ContextResult, variant)),
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
export const disclosedOf = (result: object): ContextResult["disclosed"] => (result as ContextResult).disclosed;

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
