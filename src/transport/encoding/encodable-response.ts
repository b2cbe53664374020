import { hash } from "node:crypto";
import { create, type DescMessage, type Message, toBinary, toJsonString } from "@bufbuild/protobuf";
import type { Basis } from "../../registry/executor.js";
import { ContextReply } from "../../service/messages.js";
import { contextBinary, contextJson } from "./choice-context.js";
import { ChunkList, utf8 } from "./chunks.js";

/** JSON of REST and RPC: required fields are written even where they are empty. */
export const JSON_WRITE_OPTIONS = { alwaysEmitImplicit: true } as const;

/** 132 bits of the digest. */
const ETAG_LENGTH = 22;

/** The result of an operation, encoded on demand. Joins the encodings kept with each contract that it discloses. */
export class EncodableResponse {
  readonly #output: DescMessage;
  readonly #result: ContextReply | Message;
  readonly #toError: (error: unknown) => Error;
  /** What it rests on; undefined if that is not the store. */
  readonly basis: Basis | undefined;

  constructor(output: DescMessage, result: object, toError: (error: unknown) => Error, basis?: Basis) {
    this.#output = output;
    this.basis = basis;
    this.#result =
      result instanceof ContextReply ? result : create<DescMessage>(output, result as Record<string, unknown>);
    this.#toError = toError;
  }

  /** The choice context with its contracts; undefined for other responses. */
  get context(): ContextReply | undefined {
    return this.#result instanceof ContextReply ? this.#result : undefined;
  }

  message(): Message {
    const result = this.#result;
    if (!(result instanceof ContextReply)) return result;
    try {
      return result.message();
    } catch (error) {
      throw this.#toError(error);
    }
  }

  /** The entity tag, a digest of the JSON; weak because all encodings have the same. */
  etag(): string {
    const json = this.json();
    const bytes = Buffer.allocUnsafe(json.length);
    json.write(bytes, 0);
    return `W/"${hash("sha256", bytes, "base64url").slice(0, ETAG_LENGTH)}"`;
  }

  /** A response without fields, in place of one that the client has. */
  empty(): EncodableResponse {
    return new EncodableResponse(this.#output, {}, this.#toError);
  }

  json(): ChunkList {
    const result = this.#result;
    try {
      if (result instanceof ContextReply) return contextJson(result);
      return new ChunkList(utf8(toJsonString(this.#output, result, JSON_WRITE_OPTIONS)));
    } catch (error) {
      throw this.#toError(error);
    }
  }

  binary(): ChunkList {
    const result = this.#result;
    try {
      return result instanceof ContextReply ? contextBinary(result) : new ChunkList(toBinary(this.#output, result));
    } catch (error) {
      throw this.#toError(error);
    }
  }
}
