/** Plain unary requests by Connect: one message in, one out, neither compressed. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { fromBinary, fromJson, type JsonValue, type Message } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { codeToHttpStatus, errorToJsonBytes } from "@connectrpc/connect/protocol-connect";
import type { Operation } from "../operations.js";
import { plainOf } from "../request.js";
import { readBody } from "./body.js";

/** Answers a request, or says that it is none of its kind. */
export type Attempt = (request: IncomingMessage, response: ServerResponse) => boolean;

const JSON_TYPE = "application/json";
const PROTO_TYPE = "application/proto";

export function connectUnary(operation: Operation, bodyLimit: number): Attempt {
  return (request, response) => {
    const { headers, method } = request;
    const type = headers["content-type"];
    const isPlain =
      method === "POST" &&
      (type === JSON_TYPE || type === PROTO_TYPE) &&
      headers["content-encoding"] === undefined &&
      headers["connect-timeout-ms"] === undefined;
    if (!isPlain) return false;
    const isJson = type === JSON_TYPE;
    readBody(request, bodyLimit, (body) => {
      if (body === undefined) return;
      if (body instanceof ConnectError) return fail(response, body);
      let message: Message;
      try {
        message = decode(operation, isJson, body);
      } catch (error) {
        return fail(response, undecodable(isJson ? "JSON" : "binary", error));
      }
      operation
        .call(message)
        .then((answer) => (isJson ? answer.json() : answer.binary()))
        .then(
          (bytes) => {
            response.writeHead(200, ["content-type", type, "content-length", String(bytes.length)]);
            response.end(bytes);
          },
          (error: unknown) => fail(response, ConnectError.from(error)),
        );
    });
    return true;
  };
}

function decode({ method }: Operation, isJson: boolean, body: Buffer): Message {
  if (!isJson) return fromBinary(method.input, body);
  // JSON.parse gives nothing but JSON values.
  const json = JSON.parse(body.toString()) as JsonValue;
  const plain =
    typeof json === "object" && json !== null && !Array.isArray(json) ? plainOf(method.input)?.(json) : undefined;
  return plain ?? fromJson(method.input, json, { ignoreUnknownFields: true });
}

/** The words of connect-es for a message that cannot be decoded. */
export function undecodable(form: "JSON" | "binary", error: unknown): ConnectError {
  const reason = error instanceof Error ? error.message : String(error);
  return new ConnectError(form === "JSON" ? `parse JSON: ${reason}` : `parse binary: ${reason}`, Code.InvalidArgument);
}

function fail(response: ServerResponse, error: ConnectError): void {
  const bytes = errorToJsonBytes(error, undefined);
  const headers: string[] = ["content-type", JSON_TYPE, "content-length", String(bytes.length)];
  error.metadata.forEach((value, name) => headers.push(name, value));
  response.writeHead(codeToHttpStatus(error.code), headers);
  response.end(bytes);
}
