/** The parts of the protobuf encoding that a choice context needs, as binary strings. */
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { type BinaryString, binaryStringOf, utf8 } from "./binary-string.js";

/** Tag and length of a string, bytes or message field. */
export function lengthPrefix(fieldNumber: number, length: number): BinaryString {
  return String.fromCharCode((fieldNumber << 3) | WireType.LengthDelimited) + varint(length);
}

export const delimited = (fieldNumber: number, content: BinaryString): BinaryString =>
  lengthPrefix(fieldNumber, content.length) + content;

export const text = (fieldNumber: number, value: string): BinaryString => delimited(fieldNumber, utf8(value));

export const varintField = (fieldNumber: number, value: number): BinaryString =>
  String.fromCharCode(fieldNumber << 3) + varint(value);

/** What a function writes with the library's writer. For encodings made once per contract. */
export function written(write: (writer: BinaryWriter) => void): BinaryString {
  const writer = new BinaryWriter();
  write(writer);
  return binaryStringOf(writer.finish());
}

function varint(value: number): BinaryString {
  let binary = "";
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) binary += String.fromCharCode((rest % 128) | 128);
  return binary + String.fromCharCode(rest);
}
