/** Plain unary requests by gRPC over HTTP/2: one message in, one out, neither compressed. */
import type { Http2ServerRequest, OutgoingHttpHeaders, ServerHttp2Stream } from "node:http2";
import type { Message } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import type { BinaryString } from "../encoding/binary-string.js";
import type { ChunkList } from "../encoding/chunk-list.js";
import type { RequestRecord } from "../../telemetry/request-record.js";
import type { Operation } from "../operations.js";
import { fromBinaryBytes } from "../decoding/decode.js";
import { answering } from "./answering.js";
import { bytesForStream } from "./send.js";
import { readBody } from "./read-body.js";
import { type Attempt, undecodable } from "./connect.js";

/** A flag for compression, and the length of the message. */
const FRAME = 5;
const OK = { "grpc-status": "0" };
const CONTENT_TYPE = "application/grpc+proto";
const TRAILING = { waitForTrailers: true };
const ENDING = { endStream: true };
/** What connect-es, which takes compressed requests, says that it takes. */
const ACCEPTED = "gzip";

export function grpcUnary(operation: Operation, bodyLimit: number): Attempt {
  return (request, response, given, record) => {
    const { headers, method, httpVersionMajor } = request;
    const type = headers["content-type"];
    const isPlain =
      method === "POST" &&
      httpVersionMajor === 2 &&
      (type === "application/grpc" || type === "application/grpc+proto") &&
      headers["grpc-timeout"] === undefined &&
      (headers["grpc-encoding"] === undefined || headers["grpc-encoding"] === "identity");
    if (!isPlain) return false;
    // Over HTTP/2 a request stands for a stream; the classes that make both versions look alike take their time.
    const { stream } = request as unknown as Http2ServerRequest;
    record.protocol = "grpc";
    const fail = (error: unknown) => sendError(stream, given, record, ConnectError.from(error));
    readBody(stream, bodyLimit + FRAME, (body) => {
      if (body === undefined) return record.complete(Code.Canceled);
      if (body instanceof ConnectError) return fail(body);
      let message: Message;
      try {
        message = decode(operation, body);
      } catch (error) {
        return fail(error);
      }
      answering(
        operation,
        message,
        (answer) => answer.binary(),
        (written) => {
          if (isOver(stream)) return record.complete(Code.Canceled);
          const head = { ":status": 200, "content-type": CONTENT_TYPE, "grpc-accept-encoding": ACCEPTED, ...given };
          // Sent by the response when the stream asks for them.
          response.addTrailers(OK);
          stream.respond(head, TRAILING);
          stream.end(framed(written), "latin1");
          record.complete(0);
        },
        fail,
      );
    });
    return true;
  };
}

/** An answer without a message: what would stand behind it stands in its head. */
function sendError(
  stream: ServerHttp2Stream,
  given: OutgoingHttpHeaders,
  record: RequestRecord,
  error: ConnectError,
): void {
  record.complete(error.code);
  if (isOver(stream)) return;
  const head: OutgoingHttpHeaders = { ":status": 200, "content-type": CONTENT_TYPE, ...given };
  const { rawMessage, code, metadata } = error;
  // Half of a surrogate pair could not be encoded.
  const told = new ConnectError(rawMessage.toWellFormed(), code, metadata);
  setTrailerStatus(new Headers(), told).forEach((value, name) => (head[name] = value));
  stream.respond(head, ENDING);
}

/** A stream that either end has closed is destroyed some turns later, and takes no head from then on. */
const isOver = ({ destroyed, closed }: ServerHttp2Stream): boolean => destroyed || closed;

function decode({ method }: Operation, body: Buffer): Message {
  if (body.length === 0) {
    throw new ConnectError("protocol error: missing input message for unary method", Code.Unimplemented);
  }
  if (body.length > FRAME && body.length > FRAME + body.readUInt32BE(1)) {
    throw new ConnectError("protocol error: received extra input message for unary method", Code.Unimplemented);
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
    return fromBinaryBytes(method.input, body.subarray(FRAME));
  } catch (error) {
    throw undecodable("binary", error);
  }
}

function framed(message: ChunkList): Buffer | BinaryString {
  return bytesForStream(FRAME + message.length, (memory) => {
    memory[0] = 0;
    memory.writeUInt32BE(message.length, 1);
    message.write(memory, FRAME);
  });
}
