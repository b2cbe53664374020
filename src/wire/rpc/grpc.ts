/** Plain unary requests by gRPC over HTTP/2: one message in, one out, neither compressed. */
import type { ServerResponse } from "node:http";
import { fromBinary, type Message } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import type { Operation } from "../operations.js";
import { readBody } from "./body.js";
import { type Attempt, undecodable } from "./connect.js";

/** A flag for compression, and the length of the message. */
const FRAME = 5;
const OK = { "grpc-status": "0" };
const CONTENT_TYPE = "application/grpc+proto";
/** What connect-es, which takes compressed requests, says that it takes. */
const ACCEPTED = "gzip";

export function grpcUnary(operation: Operation, bodyLimit: number): Attempt {
  return (request, response) => {
    const { headers, method, httpVersionMajor } = request;
    const type = headers["content-type"];
    const isPlain =
      method === "POST" &&
      httpVersionMajor === 2 &&
      (type === "application/grpc" || type === "application/grpc+proto") &&
      headers["grpc-timeout"] === undefined &&
      (headers["grpc-encoding"] === undefined || headers["grpc-encoding"] === "identity");
    if (!isPlain) return false;
    readBody(request, bodyLimit + FRAME, (body) => {
      if (body === undefined) return;
      if (body instanceof ConnectError) return fail(response, body);
      let message: Message;
      try {
        message = decode(operation, body);
      } catch (error) {
        return fail(response, error);
      }
      operation
        .call(message)
        .then((answer) => framed(answer.binary()))
        .then(
          (bytes) => {
            response.setHeader("content-type", CONTENT_TYPE);
            response.setHeader("grpc-accept-encoding", ACCEPTED);
            response.addTrailers(OK);
            response.end(bytes);
          },
          (error: unknown) => fail(response, error),
        );
    });
    return true;
  };
}

/** An answer without a message: what would stand behind it stands in its head. */
function fail(response: ServerResponse, error: unknown): void {
  response.setHeader("content-type", CONTENT_TYPE);
  setTrailerStatus(new Headers(), ConnectError.from(error)).forEach((value, name) => response.setHeader(name, value));
  response.end();
}

function decode({ method }: Operation, body: Buffer): Message {
  if (body.length === 0) {
    throw new ConnectError("protocol error: missing input message for unary method", Code.Unimplemented);
  }
  if (body.length < FRAME || body.length !== FRAME + body.readUInt32BE(1)) {
    throw new ConnectError(
      "protocol error: the length of the message is not what its frame says",
      Code.InvalidArgument,
    );
  }
  if (body[0] !== 0) {
    throw new ConnectError(
      "protocol error: received compressed envelope, but do not know how to decompress",
      Code.Internal,
    );
  }
  try {
    return fromBinary(method.input, body.subarray(FRAME));
  } catch (error) {
    throw undecodable("binary", error);
  }
}

function framed(message: Buffer): Buffer {
  const framedMessage = Buffer.allocUnsafe(FRAME + message.length);
  framedMessage[0] = 0;
  framedMessage.writeUInt32BE(message.length, 1);
  framedMessage.set(message, FRAME);
  return framedMessage;
}
