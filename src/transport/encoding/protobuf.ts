/** The few forms of the protobuf encoding that a choice context is made of. */
import { type BinaryString, binaryStringOf, utf8 } from "./binary-string.js";

/** What stands before some content, by the length of that in bytes. */
export type Head = (length: number) => BinaryString;

/** Of a field of text, bytes or a message, by its number. */
export const field =
  (number: number): Head =>
  (length) =>
    head(number, length);

/** What is the same before any content: fields that stand first in their message. */
export const fixed =
  (binary: BinaryString): Head =>
  () =>
    binary;

/** One inside the other, the outermost first. */
export function inside(...heads: readonly Head[]): Head {
  const inwards = heads.toReversed();
  return (length) => {
    let binary = "";
    for (const one of inwards) binary = one(binary.length + length) + binary;
    return binary;
  };
}

/** Some content with what stands before it. */
export const before = (one: Head, content: BinaryString): BinaryString => one(content.length) + content;

/** A field of text. */
export const text = (number: number, value: string): BinaryString => delimited(number, utf8(value));

/** A field of text, bytes or a message. */
export const delimited = (number: number, content: BinaryString): BinaryString =>
  head(number, content.length) + content;

/** What stands before the content of such a field. */
export const head = (number: number, length: number): BinaryString =>
  String.fromCharCode((number << 3) | 2) + varint(length);

/** A field of an enum or a truth value. */
export function numberField(number: number, value: number): BinaryString {
  return String.fromCharCode(number << 3) + varint(value);
}

/** A field of a number in double precision. */
export function double(number: number, value: number): BinaryString {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return String.fromCharCode((number << 3) | 1) + binaryStringOf(bytes);
}

/** A whole number: seven bits in each byte, the lowest first. */
function varint(value: number): BinaryString {
  let binary = "";
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) binary += String.fromCharCode((rest % 128) | 128);
  return binary + String.fromCharCode(rest);
}
