import { create, type DescMessage, type Message, toBinary, toJsonString } from "@bufbuild/protobuf";
import { ContextReply } from "../../service/context-reply.js";
import { contextBinary, contextJson } from "./choice-context.js";
import { JSON_WRITE_OPTIONS } from "./json-options.js";
import { utf8 } from "./binary-string.js";
import { singleChunk, type ChunkList } from "./chunk-list.js";

/**
 * What an operation answers, to be written in the form that a protocol asks
 * for. What discloses contracts is joined from what was written of each contract
 * before. What fails while it is written is a defect like any other.
 */
export class EncodableResponse {
  readonly #output: DescMessage;
  readonly #found: ContextReply | Message;
  readonly #refuse: (error: unknown) => Error;

  /** `found` is what a handler gives. `refuse` makes what is thrown of what failed. */
  constructor(output: DescMessage, found: object, refuse: (error: unknown) => Error) {
    this.#output = output;
    this.#found = found instanceof ContextReply ? found : create<DescMessage>(output, found as Record<string, unknown>);
    this.#refuse = refuse;
  }

  message(): Message {
    const found = this.#found;
    if (!(found instanceof ContextReply)) return found;
    try {
      return found.message();
    } catch (error) {
      throw this.#refuse(error);
    }
  }

  /** The message in JSON, in UTF-8. */
  json(): ChunkList {
    const found = this.#found;
    try {
      if (found instanceof ContextReply) return contextJson(found);
      return singleChunk(utf8(toJsonString(this.#output, found, JSON_WRITE_OPTIONS)));
    } catch (error) {
      throw this.#refuse(error);
    }
  }

  /** The message in protobuf. */
  binary(): ChunkList {
    const found = this.#found;
    try {
      return found instanceof ContextReply ? contextBinary(found) : singleChunk(toBinary(this.#output, found));
    } catch (error) {
      throw this.#refuse(error);
    }
  }
}
