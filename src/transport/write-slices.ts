import type { Writable } from "node:stream";

/** What a response may have waiting at a time. TLS encrypts it at once, into memory of its own. */
export const SLICE_BYTES = 16 * 1024;

/**
 * Writes bytes as fast as the client reads them, and ends the response. Node.js keeps references to the slices, not
 * copies. Call it when the head has been sent.
 */
export function writeSlices(response: Writable, bytes: Buffer): void {
  let at = 0;
  const writeNext = (): void => {
    if (at + SLICE_BYTES >= bytes.length) return void response.end(bytes.subarray(at));
    const slice = bytes.subarray(at, (at += SLICE_BYTES));
    // Not "drain": the high-water mark of a stream differs between versions of Node.js. An error means that it has closed.
    response.write(slice, (error) => {
      if (error === undefined || error === null) writeNext();
    });
  };
  writeNext();
}
