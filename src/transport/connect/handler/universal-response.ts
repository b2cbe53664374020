import { createAsyncIterable, type UniversalServerResponse } from "@connectrpc/connect/protocol";
import { trailerSerialize } from "@connectrpc/connect/protocol-grpc-web";

export async function bytesOf({ body }: UniversalServerResponse): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body ?? []) chunks.push(chunk);
  return Buffer.concat(chunks);
}

export function withBody(response: UniversalServerResponse, body: Uint8Array): UniversalServerResponse {
  return { ...response, body: createAsyncIterable([body]) };
}

/** The trailers of gRPC-Web: a frame at the end of the body, marked by the highest bit of its flags. */
export const TRAILERS_FLAG = 0x80;
/** Flags (1 byte) and length (4 bytes) before each frame. */
export const FRAME_HEADER_BYTES = 5;

export const trailersFrame = (trailers: Headers): Buffer => frameOf(TRAILERS_FLAG, trailerSerialize(trailers));

export function frameOf(flags: number, content: Uint8Array): Buffer {
  const header = Buffer.alloc(FRAME_HEADER_BYTES);
  header[0] = flags;
  header.writeUInt32BE(content.length, 1);
  return Buffer.concat([header, content]);
}
