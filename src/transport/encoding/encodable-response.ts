import { create, type DescMessage, type Message, toBinary, toJsonString } from "@bufbuild/protobuf";
import type { Basis } from "../../registry/basis.js";
import { ContextReply } from "../../service/messages/context-reply.js";
import { contextDigest, digestOf } from "../caching/digest.js";
import { contextBinary, contextJson } from "./choice-context.js";
import { ChunkList, utf8 } from "./chunks.js";

/** JSON of REST and RPC: required fields are written even where they are empty. */
export const JSON_WRITE_OPTIONS = { alwaysEmitImplicit: true } as const;

/** The result of an operation, encoded on demand. Joins the encodings kept with each contract that it discloses. */
export class EncodableResponse {
  readonly #output: DescMessage;
  readonly #result: ContextReply | Message;
  readonly #toError: (error: unknown) => Error;
  /** What it rests on; undefined if that is not the store. */
  readonly basis: Basis | undefined;
  #etag: string | undefined;
  #json: string | undefined;

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

  /** The entity tag, which is weak because all encodings have the same. */
  etag(): string {
    if (this.#etag !== undefined) return this.#etag;
    const result = this.#result;
    try {
      const digest = result instanceof ContextReply ? contextDigest(result) : digestOf(this.#jsonText(result));
      return (this.#etag = `W/"${digest}"`);
    } catch (error) {
      throw this.#toError(error);
    }
  }

  /** A response without fields, in place of one that the client has. */
  empty(): EncodableResponse {
    return new EncodableResponse(this.#output, {}, this.#toError);
  }

  json(): ChunkList {
    const result = this.#result;
    try {
      if (result instanceof ContextReply) return contextJson(result);
      return new ChunkList(utf8(this.#jsonText(result)));
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

  #jsonText(message: Message): string {
    return (this.#json ??= toJsonString(this.#output, message, JSON_WRITE_OPTIONS));
  }
}
