import { type Body, type ChunkList, singleChunk } from "../encoding/chunk-list.js";
import { gzip } from "./gzip.js";
import { GzipBody } from "./gzip-body.js";

/** Shorter responses fit in a packet anyway. */
export const MIN_COMPRESSED_BYTES = 1_024;

/**
 * A response in gzip; undefined where it is to be sent as it is. A response that discloses contracts is joined at once
 * from their compressed forms, at a few percent of the cost of compressing it; a thread compresses any other.
 */
export function compress(message: ChunkList): Body | undefined | Promise<Body | undefined> {
  if (message.length < MIN_COMPRESSED_BYTES) return undefined;
  return message.elements === undefined ? compressWhole(message) : GzipBody.of(message);
}

async function compressWhole(message: ChunkList): Promise<Body | undefined> {
  const bytes = Buffer.allocUnsafe(message.length);
  message.write(bytes, 0);
  const compressed = await gzip(bytes);
  return compressed === undefined ? undefined : singleChunk(compressed);
}
