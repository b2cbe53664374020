/**
 * Bytes as a text in which each character is one byte, which Node.js calls
 * "latin1": it takes no more memory than the bytes, and small ones are put together
 * far sooner.
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

/** A text in pieces, of which many were made before: they are put together where they are sent. */
export type Pieces = readonly Octets[];

export function lengthOf(pieces: Pieces): number {
  let length = 0;
  for (const piece of pieces) length += piece.length;
  return length;
}

/** Writes pieces to the beginning of some bytes, which have to have room for them, and gives what it has written. */
export function write(pieces: Pieces, bytes: Buffer): Buffer {
  let at = 0;
  for (const piece of pieces) at += bytes.write(piece, at, piece.length, "latin1");
  return bytes.subarray(0, at);
}

/**
 * From so many bytes on, a text would be put together in memory that the engine
 * takes from the system each time.
 */
export const LARGE = 64 * 1024;

/**
 * The same as one text, to be sent as "latin1". Of answers that are not large the
 * head and the body go to the system in one piece then, which costs less than to
 * write bytes and to hand over both.
 */
export function joined(pieces: Pieces): Octets {
  let octets = "";
  for (const piece of pieces) octets += piece;
  return octets;
}
