import { create, type DescMessage, type Message, toBinary, toJsonString } from "@bufbuild/protobuf";
import { ContextReply } from "../../service/context-reply.js";
import { utf8 } from "./binary-string.js";
import { contextBinary, contextJson } from "./choice-context.js";
import { type ChunkList, singleChunk } from "./chunk-list.js";
import { JSON_WRITE_OPTIONS } from "./json-options.js";

/** The result of an operation, encoded on demand. Joins the encodings kept with each contract that it discloses. */
export class EncodableResponse {
  readonly #output: DescMessage;
  readonly #result: ContextReply | Message;
  readonly #toError: (error: unknown) => Error;

  constructor(output: DescMessage, result: object, toError: (error: unknown) => Error) {
    this.#output = output;
    this.#result =
      result instanceof ContextReply ? result : create<DescMessage>(output, result as Record<string, unknown>);
    this.#toError = toError;
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

  json(): ChunkList {
    const result = this.#result;
    try {
      if (result instanceof ContextReply) return contextJson(result);
      return singleChunk(utf8(toJsonString(this.#output, result, JSON_WRITE_OPTIONS)));
    } catch (error) {
      throw this.#toError(error);
    }
  }

  binary(): ChunkList {
    const result = this.#result;
    try {
      return result instanceof ContextReply ? contextBinary(result) : singleChunk(toBinary(this.#output, result));
    } catch (error) {
      throw this.#toError(error);
    }
  }
}
