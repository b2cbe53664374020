/** Compresses whole messages, in a thread of Node.js. */
import { promisify } from "node:util";
import { gzip as gzipCallback } from "node:zlib";
import { RecentResults } from "./recent-results.js";

export const gzipInThread = promisify<Uint8Array, Buffer>(gzipCallback);

/** Each holds its message until it has its turn. */
const MAX_CONCURRENT = 16;

/** The OpenAPI document, and lists that clients poll. */
const recent = new RecentResults();

let running = 0;

/**
 * Undefined where gzip does not make the message shorter, and where too many are being compressed. The message must not
 * be changed afterwards.
 */
export async function gzip(message: Buffer): Promise<Buffer | undefined> {
  const known = recent.find(message);
  if (known !== undefined) return known;
  if (running >= MAX_CONCURRENT) return undefined;
  running++;
  try {
    const compressed = await gzipInThread(message);
    if (compressed.length >= message.length) return undefined;
    recent.add(message, compressed);
    return compressed;
  } finally {
    running--;
  }
}
