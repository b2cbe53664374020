/** Step 3: the body of an RPC -> the request message. Throws ConnectError. */
import type { Message } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { fromBinaryBytes, fromJsonBytes } from "../decoding/decode.js";
import { rejection } from "../errors.js";
import type { FastCall } from "./call.js";
import { messageTooLarge } from "./read-body.js";

/** Flag of compression (1 byte) and length of the message (4 bytes). */
const FRAME_HEADER_BYTES = 5;
/** gRPC reserves the other flags; connect-es ignores them. */
const COMPRESSED_FLAG = 1;

export function decodeConnectJson({ operation }: FastCall, body: Buffer): Message {
  return fromJsonBytes(operation.method.input, body);
}

export function decodeConnectBinary({ operation }: FastCall, body: Buffer): Message {
  return fromBinaryBytes(operation.method.input, body);
}

/** Codes are those of connect-es, which serves the requests that are not plain and reads frame by frame. */
export function decodeGrpc(call: FastCall, body: Buffer, maxBytes: number): Message {
  if (body.length === 0) {
    const message = "protocol error: missing input message for unary method";
    throw rejection("PROTOCOL_ERROR", message, { code: Code.Unimplemented });
  }
  checkLengths(body, maxBytes);
  const { message, rest } = decodeFrame(call, body);
  if (rest === undefined) return message;
  decodeFrame(call, rest);
  const extra = "protocol error: received extra input message for unary method";
  throw rejection("PROTOCOL_ERROR", extra, { code: Code.Unimplemented });
}

/** connect-es looks at the lengths of all frames that it has received before it reads the first. */
function checkLengths(body: Buffer, maxBytes: number): void {
  for (let at = 0; at + FRAME_HEADER_BYTES <= body.length;) {
    const length = body.readUInt32BE(at + 1);
    if (length > maxBytes) throw messageTooLarge(maxBytes);
    at += FRAME_HEADER_BYTES + length;
  }
}

interface Frame {
  readonly message: Message;
  /** What follows the frame; undefined if nothing does. */
  readonly rest: Buffer | undefined;
}

function decodeFrame(call: FastCall, bytes: Buffer): Frame {
  const end = FRAME_HEADER_BYTES + (bytes.length < FRAME_HEADER_BYTES ? 0 : bytes.readUInt32BE(1));
  if (bytes.length < end) {
    throw rejection("PROTOCOL_ERROR", "protocol error: the length of the message is not what its frame says");
  }
  if (((bytes[0] ?? 0) & COMPRESSED_FLAG) !== 0) {
    const compressed = "protocol error: received compressed envelope, but do not know how to decompress";
    throw rejection("PROTOCOL_ERROR", compressed, { code: Code.Internal });
  }
  return {
    message: decodeConnectBinary(call, bytes.subarray(FRAME_HEADER_BYTES, end)),
    rest: bytes.length === end ? undefined : bytes.subarray(end),
  };
}
