/** Compresses whole messages, in a thread of Node.js. */
import { promisify } from "node:util";
import { gzip as gzipCallback } from "node:zlib";

const compress = promisify<Uint8Array, Buffer>(gzipCallback);

/** Each holds its message until it has its turn. */
const MAX_CONCURRENT = 16;

let running = 0;

/** Undefined where gzip does not make the message shorter, and where too many are being compressed. */
export async function gzip(message: Uint8Array): Promise<Buffer | undefined> {
  if (running >= MAX_CONCURRENT) return undefined;
  running++;
  try {
    const compressed = await compress(message);
    return compressed.length < message.length ? compressed : undefined;
  } finally {
    running--;
  }
}
