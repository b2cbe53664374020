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
import { fastDecodeJson, hasOneofField } from "./fast-json.js";

const reading = { ignoreUnknownFields: true } as const;

/** For REST: the object has no member of a oneof. Throws invalid_argument with the path of the wrong field. */
export function fromJsonObject(schema: DescMessage, json: JsonObject): Message {
  const plain = fastDecodeJson(schema, json);
  if (plain !== undefined) return plain;
  try {
    return fromJson(schema, json, reading);
  } catch (error) {
    throw malformed(describeTypeError(error, schema, json));
  }
}

export function fromJsonBytes(schema: DescMessage, bytes: Buffer): Message {
  const json = JSON.parse(bytes.toString()) as JsonValue;
  const isFast = isObject(json) && !hasOneofField(schema, json);
  return (isFast ? fastDecodeJson(schema, json) : undefined) ?? fromJson(schema, json, reading);
}

export function fromBinaryBytes(schema: DescMessage, bytes: Buffer): Message {
  return fastDecodeBinary(schema, bytes) ?? fromBinary(schema, bytes);
}
