/** Plain unary requests by Connect: one message in, one out, neither compressed. */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Message } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { codeToHttpStatus, errorToJsonBytes } from "@connectrpc/connect/protocol-connect";
import type { RequestRecord } from "../../telemetry/request-record.js";
import type { Operation } from "../operations.js";
import { fromBinaryBytes, fromJsonBytes } from "../decoding/decode.js";
import { answering } from "./answering.js";
import { endWith, setHeaders } from "./send.js";
import { readBody } from "./read-body.js";

/** Answers a request, or says that it is none of its kind. `given` are the headers that others have set for the answer. */
export type Attempt = (
  request: IncomingMessage,
  response: ServerResponse,
  given: OutgoingHttpHeaders,
  record: RequestRecord,
) => boolean;

const JSON_TYPE = "application/json";
const PROTO_TYPE = "application/proto";

export function connectUnary(operation: Operation, bodyLimit: number): Attempt {
  const { input } = operation.method;
  return (request, response, given, record) => {
    const { headers, method } = request;
    const type = headers["content-type"];
    const isPlain =
      method === "POST" &&
      (type === JSON_TYPE || type === PROTO_TYPE) &&
      headers["content-encoding"] === undefined &&
      headers["connect-timeout-ms"] === undefined;
    if (!isPlain) return false;
    const isJson = type === JSON_TYPE;
    record.protocol = "connect";
    const fail = (error: ConnectError) => sendError(response, record, error);
    setHeaders(response, given);
    readBody(request, bodyLimit, (body) => {
      if (body === undefined) return record.complete(Code.Canceled);
      if (body instanceof ConnectError) return fail(body);
      let message: Message;
      try {
        message = isJson ? fromJsonBytes(input, body) : fromBinaryBytes(input, body);
      } catch (error) {
        return fail(undecodable(isJson ? "JSON" : "binary", error));
      }
      answering(
        operation,
        message,
        (answer) => (isJson ? answer.json() : answer.binary()),
        (written) => {
          endWith(response, type, written);
          record.complete(0);
        },
        (error) => fail(ConnectError.from(error)),
      );
    });
    return true;
  };
}

/** The words of connect-es for a message that cannot be decoded. */
export function undecodable(form: "JSON" | "binary", error: unknown): ConnectError {
  const reason = error instanceof Error ? error.message : String(error);
  return new ConnectError(form === "JSON" ? `parse JSON: ${reason}` : `parse binary: ${reason}`, Code.InvalidArgument);
}

/** Sends an error as unary Connect tells it. */
export function sendError(response: ServerResponse, record: RequestRecord, error: ConnectError): void {
  record.complete(error.code);
  const bytes = errorToJsonBytes(error, undefined);
  const headers: string[] = ["content-type", JSON_TYPE, "content-length", String(bytes.length)];
  error.metadata.forEach((value, name) => headers.push(name, value));
  response.writeHead(codeToHttpStatus(error.code), headers);
  response.end(bytes);
}
