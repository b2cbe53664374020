/**
 * Bytes as a text in which each character is one byte, which Node.js calls
 * "latin1": it takes no more memory than the bytes, and small ones are put together
 * far sooner.
 */
export type BinaryString = string;

// eslint-disable-next-line no-control-regex -- the range of ASCII begins there
const beyondAscii = /[^\u0000-\u007f]/;

/** A text in UTF-8. */
export function utf8(text: string): BinaryString {
  return beyondAscii.test(text) ? Buffer.from(text).toString("latin1") : text;
}

export function binaryStringOf(bytes: Uint8Array): BinaryString {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}

/**
 * The same in one piece. A text that was put together is kept as its parts until
 * it is looked at, and one that is a part of others is not looked at by itself:
 * what is joined again and again has to be made whole.
 */
export function flatten(binary: BinaryString): BinaryString {
  return Buffer.from(binary, "latin1").toString("latin1");
}
