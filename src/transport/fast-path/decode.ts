/** Step 3: the body of an RPC -> the request message. Throws ConnectError. */
import type { Message } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { fromBinaryBytes, fromJsonBytes } from "../decoding/decode.js";
import { refusal } from "../error-details.js";
import type { FastCall } from "./call.js";

/** Flag of compression (1 byte) and length of the message (4 bytes). */
const FRAME_HEADER_BYTES = 5;

export function decodeConnectJson({ operation }: FastCall, body: Buffer): Message {
  return fromJsonBytes(operation.method.input, body);
}

export function decodeConnectBinary({ operation }: FastCall, body: Buffer): Message {
  return fromBinaryBytes(operation.method.input, body);
}

/** Messages and codes are those of connect-es, which serves the requests that are not plain. */
export function decodeGrpc(call: FastCall, body: Buffer): Message {
  if (body.length === 0) {
    const message = "protocol error: missing input message for unary method";
    throw refusal("PROTOCOL_ERROR", message, { code: Code.Unimplemented });
  }
  const expected = body.length < FRAME_HEADER_BYTES ? undefined : FRAME_HEADER_BYTES + body.readUInt32BE(1);
  if (expected !== undefined && body.length > expected) {
    const message = "protocol error: received extra input message for unary method";
    throw refusal("PROTOCOL_ERROR", message, { code: Code.Unimplemented });
  }
  if (body.length !== expected) {
    throw refusal("PROTOCOL_ERROR", "protocol error: the length of the message is not what its frame says");
  }
  if (body[0] !== 0) {
    const message = "protocol error: received compressed envelope, but do not know how to decompress";
    throw refusal("PROTOCOL_ERROR", message, { code: Code.Internal });
  }
  return decodeConnectBinary(call, body.subarray(FRAME_HEADER_BYTES));
}
