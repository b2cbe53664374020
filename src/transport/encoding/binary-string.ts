/**
 * One character per byte ("latin1"). Unlike small buffers it stays in V8's heap: with 400,000 contracts, each disclosed
 * once, buffers take 2.4 times the CPU because of major collections. Can go when small buffers have no backing store.
 */
export type BinaryString = string;

// eslint-disable-next-line no-control-regex -- ASCII starts with control characters
const beyondAscii = /[^\u0000-\u007f]/;

export function utf8(text: string): BinaryString {
  return beyondAscii.test(text) ? Buffer.from(text).toString("latin1") : text;
}

export function binaryStringOf(bytes: Uint8Array): BinaryString {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}

/** Copies a concatenated string into one piece: otherwise V8 keeps a rope of its parts and walks it at each use. */
export function flatten(binary: BinaryString): BinaryString {
  return Buffer.from(binary, "latin1").toString("latin1");
}
