/** Compresses unary responses of connect-es, which would compress errors too and does not know quality values. */
import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import { acceptsGzip, GZIP, gzip, MIN_COMPRESSED_BYTES, varyByEncoding } from "../../compress.js";
import type { ConnectCall } from "./connect-call.js";
import { bytesOf, FRAME_HEADER_BYTES, withBody } from "./universal-response.js";

const COMPRESSED_FLAG = 1;

export async function compressConnect(
  response: UniversalServerResponse,
  { request, reply }: ConnectCall,
): Promise<UniversalServerResponse> {
  if (response.status !== 200) return response;
  const header = new Headers(response.header);
  header.set("vary", varyByEncoding(reply.getHeader("vary")));
  const plain = await bytesOf(response);
  const accepts = acceptsGzip(request.raw.headers["accept-encoding"]);
  const compressed = accepts && plain.length >= MIN_COMPRESSED_BYTES ? await gzip(plain) : undefined;
  if (compressed === undefined) return { ...withBody(response, plain), header };
  header.set("content-encoding", GZIP);
  header.set("content-length", String(compressed.length));
  return { ...withBody(response, compressed), header };
}

/** gRPC and gRPC-Web: `body` is the message in its frame, which trailers may follow; of an error, trailers or nothing. */
export async function compressGrpc(
  response: UniversalServerResponse,
  body: Buffer,
  { request }: ConnectCall,
): Promise<UniversalServerResponse> {
  const plain = withBody(response, body);
  if (body.length < FRAME_HEADER_BYTES || body[0] !== 0) return plain;
  const end = FRAME_HEADER_BYTES + body.readUInt32BE(1);
  if (end < FRAME_HEADER_BYTES + MIN_COMPRESSED_BYTES) return plain;
  if (!acceptsGzip(request.raw.headers["grpc-accept-encoding"])) return plain;
  const compressed = await gzip(body.subarray(FRAME_HEADER_BYTES, end));
  if (compressed === undefined) return plain;
  const frameHeader = Buffer.alloc(FRAME_HEADER_BYTES);
  frameHeader[0] = COMPRESSED_FLAG;
  frameHeader.writeUInt32BE(compressed.length, 1);
  const header = new Headers(response.header);
  header.set("grpc-encoding", GZIP);
  return { ...withBody(response, Buffer.concat([frameHeader, compressed, body.subarray(end)])), header };
}
