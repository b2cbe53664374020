import type { ServerResponse } from "node:http";

/** What a response may have waiting at a time. TLS encrypts it at once, into memory of its own. */
export const SLICE_BYTES = 64 * 1024;

/**
 * Writes bytes that several responses share, as fast as the client reads them. Node.js keeps references to the slices,
 * not copies. Call it after `writeHead`.
 */
export function writeShared(response: ServerResponse, bytes: Buffer): void {
  let at = 0;
  const writeNext = (): void => {
    while (at + SLICE_BYTES < bytes.length) {
      const slice = bytes.subarray(at, (at += SLICE_BYTES));
      // A connection that closes drains no more, and nothing else refers to this function.
      if (!response.write(slice)) return void response.once("drain", writeNext);
    }
    response.end(bytes.subarray(at));
  };
  writeNext();
}
