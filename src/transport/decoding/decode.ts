import { type DescMessage, fromBinary, fromJson, type JsonObject, type Message } from "@bufbuild/protobuf";
import { malformed } from "../errors.js";
import { isObject, describeTypeError } from "./type-errors.js";
import { fastDecodeBinary } from "./fast-binary.js";
import { fastDecodeJson } from "./fast-json.js";
import { EMPTY_BODY, parseJson } from "./json-text.js";

const reading = { ignoreUnknownFields: true } as const;

/** Throws invalid_argument with the path of the wrong field. */
export function fromJsonObject(schema: DescMessage, json: JsonObject): Message {
  const plain = fastDecodeJson(schema, json);
  if (plain !== undefined) return plain;
  try {
    return fromJson(schema, json, reading);
  } catch (error) {
    throw malformed(describeTypeError(error, schema, json));
  }
}

/** Throws where the bytes are no message; invalid_argument where they are not even JSON. */
export function fromJsonBytes(schema: DescMessage, bytes: Buffer): Message {
  const json = parseJson(bytes);
  if (json === undefined) throw malformed(EMPTY_BODY);
  return (isObject(json) ? fastDecodeJson(schema, json) : undefined) ?? fromJson(schema, json, reading);
}

export function fromBinaryBytes(schema: DescMessage, bytes: Buffer): Message {
  return fastDecodeBinary(schema, bytes) ?? fromBinary(schema, bytes);
}
