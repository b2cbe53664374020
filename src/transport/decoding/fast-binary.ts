/** Plain requests from protobuf. */
import type { DescMessage, JsonObject, JsonValue, Message } from "@bufbuild/protobuf";
import { MAX_DEPTH, fastSchema } from "./fast-schema.js";

/** Types of fields on the wire. */
const VARINT = 0;
const FIXED64 = 1;
const DELIMITED = 2;

/** The message of some bytes, or undefined where the library has to look at them. */
export function fastDecodeBinary(schema: DescMessage, bytes: Buffer): Message | undefined {
  const plain = fastSchema(schema);
  if (plain === undefined) return undefined;
  const { fields } = plain;
  const values: (JsonValue | undefined)[] = fields.map(() => undefined);
  try {
    const reader = new Reader(bytes, 0, bytes.length);
    while (reader.hasMore()) {
      const tag = reader.varint();
      const index = fields.findIndex(({ number }) => number === tag >>> 3);
      const type = fields[index]?.type;
      if (type === undefined) return undefined;
      if ((tag & 7) !== (type === "bool" ? VARINT : DELIMITED)) return undefined;
      // An object that comes in parts is put together by the library.
      if (type === "object" && values[index] !== undefined) return undefined;
      values[index] = type === "text" ? reader.text() : type === "bool" ? reader.bool() : reader.part().object(1);
    }
    const message = plain.create();
    for (let index = 0; index < values.length; index++) plain.set(message, index, values[index]);
    return message;
  } catch (error) {
    if (error instanceof FastPathMiss) return undefined;
    throw error;
  }
}

/** Thrown to leave a request to the library; it never gets further than that. */
class FastPathMiss extends Error {}

/** What it is thrown as: nothing of it is looked at, so one is enough. */
const notPlain = new FastPathMiss();

/** Reads a part of the bytes from its beginning to its end. */
class Reader {
  readonly #bytes: Buffer;
  readonly #end: number;
  #at: number;

  constructor(bytes: Buffer, from: number, end: number) {
    this.#bytes = bytes;
    this.#at = from;
    this.#end = end;
  }

  hasMore(): boolean {
    return this.#at < this.#end;
  }

  /** A whole number of 28 bits at most, which a tag and a length are here. */
  varint(): number {
    let value = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.#at < this.#end ? this.#bytes[this.#at++] : undefined;
      if (byte === undefined) throw notPlain;
      value |= (byte & 127) << shift;
      if (byte < 128) return value;
    }
    throw notPlain;
  }

  bool(): boolean {
    const value = this.varint();
    if (value > 1) throw notPlain;
    return value === 1;
  }

  text(): string {
    const from = this.#skip(this.varint());
    const text = this.#bytes.toString("utf8", from, this.#at);
    // This character may stand for bytes that are no UTF-8.
    if (text.includes("\ufffd")) throw notPlain;
    return text;
  }

  /** What a length stands before, as a reader of its own. */
  part(): Reader {
    const from = this.#skip(this.varint());
    return new Reader(this.#bytes, from, this.#at);
  }

  /** google.protobuf.Struct: entries of key and value. */
  object(depth: number): JsonObject {
    if (depth > MAX_DEPTH) throw notPlain;
    const object: JsonObject = {};
    while (this.hasMore()) {
      this.#expect(1, DELIMITED);
      const entry = this.part();
      entry.#expect(1, DELIMITED);
      const key = entry.text();
      if (key === "__proto__") throw notPlain;
      entry.#expect(2, DELIMITED);
      object[key] = entry.part().#value(depth + 1);
      if (entry.hasMore()) throw notPlain;
    }
    return object;
  }

  /** google.protobuf.Value: one of its six fields. */
  #value(depth: number): JsonValue {
    const tag = this.varint();
    const value = this.#valueOf(tag, depth);
    if (this.hasMore()) throw notPlain;
    return value;
  }

  #valueOf(tag: number, depth: number): JsonValue {
    switch (tag) {
      case (1 << 3) | VARINT:
        if (this.varint() !== 0) throw notPlain;
        return null;
      case (2 << 3) | FIXED64:
        return this.#number();
      case (3 << 3) | DELIMITED:
        return this.text();
      case (4 << 3) | VARINT:
        return this.bool();
      case (5 << 3) | DELIMITED:
        return this.part().object(depth);
      case (6 << 3) | DELIMITED:
        return this.part().#list(depth);
      default:
        throw notPlain;
    }
  }

  #list(depth: number): JsonValue[] {
    if (depth > MAX_DEPTH) throw notPlain;
    const list: JsonValue[] = [];
    while (this.hasMore()) {
      this.#expect(1, DELIMITED);
      list.push(this.part().#value(depth + 1));
    }
    return list;
  }

  #number(): number {
    const from = this.#skip(8);
    const value = this.#bytes.readDoubleLE(from);
    if (!Number.isFinite(value)) throw notPlain;
    return value;
  }

  #expect(field: number, type: number): void {
    if (this.varint() !== ((field << 3) | type)) throw notPlain;
  }

  /** Moves on by so many bytes, and says where they begin. */
  #skip(length: number): number {
    const from = this.#at;
    if (length > this.#end - from) throw notPlain;
    this.#at = from + length;
    return from;
  }
}
