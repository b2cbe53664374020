/** Errors in the forms of Connect and gRPC. gRPC sends them in headers, where there is less room than in a body. */
import { Readable } from "node:stream";
import { create, toBinary } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { codeToHttpStatus, errorToJsonBytes } from "@connectrpc/connect/protocol-connect";
import { setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import type { FastifyReply, FastifyRequest } from "fastify";
import { type Refusal, RefusalSchema } from "../../../gen/offledger/refusal/v1/refusal_pb.js";
import { memoizeLast } from "../../util/memoize.js";
import { JSON_WRITE_OPTIONS } from "../encoding/encoders.js";
import { cut, fitRefusal } from "../error-details.js";
import { outcomeOf, rejection } from "../errors.js";

const MAX_MESSAGE_BYTES = 2_048;
/**
 * Of `grpc-message` and `grpc-status-details-bin` together. Clients accept 8 KiB of headers by default. The rest is for
 * the other headers, those of CORS and of proxies included, and for the 32 bytes that HTTP/2 counts for each.
 */
const MAX_STATUS_BYTES = 6_656;
/**
 * Of the details in google.rpc.Status. They leave 1 KiB to the message. ErrorInfo, RetryInfo and BadRequest together never
 * have more: see ../error-details.ts.
 */
const MAX_DETAILS_BYTES = 3_184;
/** Tags and lengths of a detail, its type and its value, and the prefix of the type. */
const DETAIL_BYTES = 10 + "type.googleapis.com/".length;
/** Tags, code and the length of the message in google.rpc.Status, and what base64 rounds up. */
const FRAMING_BYTES = 16;

/** Sends an error in the protocol of the request's record: over gRPC as one HEADERS frame that ends the stream. */
export function sendRpcError(request: FastifyRequest, reply: FastifyReply, error: ConnectError): void {
  const { raw, record } = request;
  record.complete(error.code);
  if (record.protocol === "connect") {
    reply.headers(Object.fromEntries(error.metadata));
    reply.code(codeToHttpStatus(error.code)).header("content-type", "application/json");
    void reply.send(connectErrorBytes(error));
    return;
  }
  const isHttp2 = raw.httpVersionMajor === 2;
  if (record.protocol === "grpc-web") {
    reply.headers(Object.fromEntries(error.metadata));
    // A page can read the body, whatever headers CORS lets it see.
    const status = [...grpcStatus(error)].filter(([name]) => name.startsWith("grpc-"));
    const trailers = status.map(([name, value]) => `${name}: ${value}\r\n`);
    reply.code(200).header("content-type", request.headers["content-type"]);
    void reply.send(trailerFrame(trailers.join("")));
    return;
  }
  reply.headers(Object.fromEntries(grpcStatus(error)));
  const contentType = isHttp2 ? "application/grpc+proto" : request.headers["content-type"];
  reply.code(200).header("content-type", contentType ?? "application/grpc");
  // Without a body Fastify adds a content-length and does not end the stream, which clients of gRPC take for a broken call.
  void reply.send(isHttp2 ? Readable.from([]) : Buffer.alloc(0));
}

/** Flags (1 byte) and length of the message (4 bytes). */
export const FRAME_HEADER_BYTES = 5;
const TRAILER_FLAG = 0x80;

export function trailerFrame(trailers: string): Buffer {
  const frame = Buffer.alloc(FRAME_HEADER_BYTES + Buffer.byteLength(trailers));
  frame[0] = TRAILER_FLAG;
  frame.writeUInt32BE(frame.length - FRAME_HEADER_BYTES, 1);
  frame.write(trailers, FRAME_HEADER_BYTES);
  return frame;
}

/** Memoized, as `grpcStatus`, because load shedding sends one error many times, when the CPU is scarce. */
const connectErrorBytes = memoizeLast((error: ConnectError) =>
  Buffer.from(errorToJsonBytes(error, JSON_WRITE_OPTIONS)),
);

/** The body of Connect for a refusal with a status of HTTP itself, such as 405. */
export function connectErrorBody(status: number, message: string): Buffer {
  const code = outcomeOf(status);
  if (code === 0) throw new Error(`status ${status} is no refusal`);
  return connectErrorBytes(rejection("PROTOCOL_ERROR", message, { code }));
}

/** The headers that carry an error: `grpc-status`, `grpc-message`, `grpc-status-details-bin`, and its own. Do not change them. */
export const grpcStatus = memoizeLast((error: ConnectError): Headers => {
  const bounded = boundForGrpc(error, encodeGrpcMessage);
  const status = setTrailerStatus(new Headers(), bounded);
  status.set("grpc-message", encodeGrpcMessage(bounded.rawMessage));
  return status;
});

/** What `grpc-message` does not carry as it is: all but printable ASCII without the percent sign. */
const ENCODED = /[^ -$&-~]+/gu;

/** connect-es also encodes spaces and colons. grpc-js decodes no colons. */
const encodeGrpcMessage = (message: string): string => message.replaceAll(ENCODED, (part) => encodeURIComponent(part));

/** The error with a message, by its encoding, and details that fit the headers of gRPC; of its causes, those that fit. */
export function boundForGrpc(
  error: ConnectError,
  encoding: (part: string) => string = encodeURIComponent,
): ConnectError {
  const details = fitDetails(error);
  // The message is sent twice: as `grpc-message`, and in the details, whose base64 takes 4 bytes for 3. Python rejects the
  // details if the two differ.
  const room = Math.floor((3 * MAX_STATUS_BYTES - 4 * (sizeOf(details) + FRAMING_BYTES)) / 7);
  const max = Math.min(MAX_MESSAGE_BYTES, room);
  const message = cut(error.rawMessage, max, (part) => encoding(part).length);
  const bounded = new ConnectError(message, error.code, error.metadata);
  bounded.details = details;
  return bounded;
}

interface EncodedDetail {
  readonly type: string;
  readonly value: Uint8Array;
}

function fitDetails(error: ConnectError): EncodedDetail[] {
  const details = error.details.map(encode);
  const [refusal] = error.findDetails(RefusalSchema);
  if (sizeOf(details) <= MAX_DETAILS_BYTES || refusal === undefined) return details;
  const others = details.filter(({ type }) => type !== RefusalSchema.typeName);
  const room = MAX_DETAILS_BYTES - sizeOf([...others, encodeRefusal(create(RefusalSchema))]);
  return [...others, encodeRefusal(fitRefusal(refusal, room))];
}

const encodeRefusal = (value: Refusal): EncodedDetail => encode({ desc: RefusalSchema, value });

function encode(detail: ConnectError["details"][number]): EncodedDetail {
  if ("type" in detail) return detail;
  const { desc, value } = detail;
  return { type: desc.typeName, value: toBinary(desc, create(desc, value)) };
}

const sizeOf = (details: readonly EncodedDetail[]): number =>
  details.reduce((sum, { type, value }) => sum + DETAIL_BYTES + type.length + value.length, 0);
