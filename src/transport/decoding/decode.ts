/** The bytes of a request -> its message, as every protocol reads them. */
import {
  type DescMessage,
  fromBinary,
  fromJson,
  type JsonObject,
  type JsonValue,
  type Message,
} from "@bufbuild/protobuf";
import { malformed } from "../errors.js";
import { isObject, describeTypeError } from "./type-errors.js";
import { fastDecodeBinary } from "./fast-binary.js";
import { fastDecodeJson } from "./fast-json.js";

/** Unknown fields may come from newer clients. */
const reading = { ignoreUnknownFields: true } as const;

/** Throws invalid_argument, and names the field that is wrong. */
export function fromJsonObject(schema: DescMessage, json: JsonObject): Message {
  const plain = fastDecodeJson(schema, json);
  if (plain !== undefined) return plain;
  try {
    return fromJson(schema, json, reading);
  } catch (error) {
    throw malformed(describeTypeError(error, schema, json));
  }
}

/** Throws what the library throws, or SyntaxError. */
export function fromJsonBytes(schema: DescMessage, bytes: Buffer): Message {
  // JSON.parse gives nothing but JSON values.
  const json = JSON.parse(bytes.toString()) as JsonValue;
  return (isObject(json) ? fastDecodeJson(schema, json) : undefined) ?? fromJson(schema, json, reading);
}

/** Throws what the library throws. */
export function fromBinaryBytes(schema: DescMessage, bytes: Buffer): Message {
  return fastDecodeBinary(schema, bytes) ?? fromBinary(schema, bytes);
}
