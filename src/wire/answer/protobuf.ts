/** The few forms of the protobuf encoding that a choice context is made of. */
import { type Octets, octetsOf, utf8 } from "./octets.js";

/** A field of text. */
export const text = (field: number, value: string): Octets => delimited(field, utf8(value));

/** A field of text, bytes or a message, by its number. */
export const delimited = (field: number, content: Octets): Octets => head(field, content.length) + content;

/** What stands before the content of such a field, by the length of that in bytes. */
export const head = (field: number, length: number): Octets => String.fromCharCode((field << 3) | 2) + varint(length);

/** A field of an enum or a truth value. */
export function number(field: number, value: number): Octets {
  return String.fromCharCode(field << 3) + varint(value);
}

/** A field of a number in double precision. */
export function double(field: number, value: number): Octets {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return String.fromCharCode((field << 3) | 1) + octetsOf(bytes);
}

/** A whole number: seven bits in each byte, the lowest first. */
function varint(value: number): Octets {
  let octets = "";
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) octets += String.fromCharCode((rest % 128) | 128);
  return octets + String.fromCharCode(rest);
}
