import { lend } from "./memory.js";

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

/**
 * The same in one piece. A text that was put together is kept as its parts until
 * it is looked at, and one that is a part of others is not looked at by itself:
 * what is joined again and again has to be made whole.
 */
export function whole(octets: Octets): Octets {
  return Buffer.from(octets, "latin1").toString("latin1");
}

/** What is sent: octets, or where there are many of them bytes in memory that is lent, to be given back. */
export type Body = Octets | Buffer;

/** From here on a text would be joined in memory that the engine takes from the system each time. */
const LARGE = 64 * 1024;

/** Joins pieces that are texts of their own. */
export function joined(pieces: readonly Octets[]): Body {
  let length = 0;
  for (const piece of pieces) length += piece.length;
  if (length < LARGE) {
    let octets = "";
    for (const piece of pieces) octets += piece;
    return octets;
  }
  const bytes = lend(length);
  let at = 0;
  for (const piece of pieces) at += bytes.write(piece, at, "latin1");
  return bytes;
}
