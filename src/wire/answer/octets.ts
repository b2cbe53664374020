/**
 * Bytes as a text in which each character is one byte, which Node.js calls
 * "latin1". An answer is joined from many pieces: of texts the engine joins them
 * without a copy, and Node.js writes head and body in one go.
 */
export type Octets = string;

// eslint-disable-next-line no-control-regex -- the range of ASCII begins there
const beyondAscii = /[^\u0000-\u007f]/;

/** A text in UTF-8. */
export function utf8(text: string): Octets {
  return beyondAscii.test(text) ? Buffer.from(text).toString("latin1") : text;
}

export function octetsOf(bytes: Uint8Array): Octets {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}
