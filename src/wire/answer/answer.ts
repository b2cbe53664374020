import { create, type DescMessage, type Message, toBinary, toJsonString } from "@bufbuild/protobuf";
import { ContextReply } from "../../service/context-reply.js";
import { contextBinary, contextJson } from "./context.js";
import { jsonWriting } from "./json-writing.js";

/** What an operation answers, to be written in the form that a protocol asks for. */
export interface Answer {
  readonly message: () => Message;
  /** The message in JSON, in UTF-8. */
  readonly json: () => Buffer;
  /** The message in protobuf. */
  readonly binary: () => Buffer;
}

/** The answer of a handler. What discloses contracts is joined from what was written of each contract before. */
export function answerOf(output: DescMessage, found: object): Answer {
  if (found instanceof ContextReply) {
    return {
      message: () => found.message(),
      json: () => contextJson(found),
      binary: () => contextBinary(found),
    };
  }
  const message = create<DescMessage>(output, found as Record<string, unknown>);
  return {
    message: () => message,
    json: () => Buffer.from(toJsonString(output, message, jsonWriting)),
    binary: () => Buffer.from(toBinary(output, message)),
  };
}
