/** Step 3: the body of an RPC -> the request message. Throws ConnectError. */
import type { Message } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { fromBinaryBytes, fromJsonBytes } from "../decoding/decode.js";
import type { FastCall } from "./call.js";

/** Flag of compression (1 byte) and length of the message (4 bytes). */
const FRAME_HEADER_BYTES = 5;
/** gRPC reserves the other flags; connect-es ignores them. */
const COMPRESSED_FLAG = 1;

export function decodeConnectJson({ operation }: FastCall, body: Buffer): Message {
  try {
    return fromJsonBytes(operation.method.input, body);
  } catch (error) {
    throw undecodable("JSON", error);
  }
}

export function decodeConnectBinary({ operation }: FastCall, body: Buffer): Message {
  try {
    return fromBinaryBytes(operation.method.input, body);
  } catch (error) {
    throw undecodable("binary", error);
  }
}

/** Messages and codes are those of connect-es, which serves the requests that are not plain. */
export function decodeGrpc(call: FastCall, body: Buffer): Message {
  if (body.length === 0) {
    throw new ConnectError("protocol error: missing input message for unary method", Code.Unimplemented);
  }
  const expected = body.length < FRAME_HEADER_BYTES ? undefined : FRAME_HEADER_BYTES + body.readUInt32BE(1);
  if (expected !== undefined && body.length > expected) {
    throw new ConnectError("protocol error: received extra input message for unary method", Code.Unimplemented);
  }
  if (body.length !== expected) {
    throw new ConnectError(
      "protocol error: the length of the message is not what its frame says",
      Code.InvalidArgument,
    );
  }
  if (((body[0] ?? 0) & COMPRESSED_FLAG) !== 0) {
    throw new ConnectError(
      "protocol error: received compressed envelope, but do not know how to decompress",
      Code.Internal,
    );
  }
  return decodeConnectBinary(call, body.subarray(FRAME_HEADER_BYTES));
}

function undecodable(form: "JSON" | "binary", error: unknown): ConnectError {
  if (error instanceof ConnectError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new ConnectError(`parse ${form}: ${reason}`, Code.InvalidArgument);
}
