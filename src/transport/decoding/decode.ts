import {
  type DescMessage,
  fromBinary,
  fromJson,
  type JsonObject,
  type JsonValue,
  type Message,
} from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { rejection, type Violation } from "../errors.js";
import { decimalsAsText } from "./decimals.js";
import { findWrongType, isObject, isTooDeep, type WrongType } from "./type-errors.js";
import { fastDecodeBinary } from "./fast-binary.js";
import { fastDecodeJson, hasOneofField } from "./fast-json.js";
import { EMPTY_BODY, parseJson } from "./json-text.js";
import { protoPath } from "./proto-path.js";

const reading = { ignoreUnknownFields: true } as const;

/** For REST, and for requests that are explained. Throws invalid_argument with the path of the wrong field. */
export function fromJsonObject(schema: DescMessage, json: JsonObject): Message {
  // The fast decoder leaves out members of a oneof.
  const plain = hasOneofField(schema, json) ? undefined : fastDecodeJson(schema, json);
  if (plain !== undefined) return plain;
  const read = decimalsAsText(schema, json) as JsonObject;
  try {
    return fromJson(schema, read, reading);
  } catch (error) {
    if (isTooDeep(error)) throw malformed("the body is nested too deep");
    const wrong = findWrongType(schema, read);
    throw malformed(wrong === undefined ? messageOf(error) : `${wrong.path} ${wrong.problem}`, schema, wrong);
  }
}

/** As connect-es decodes and reports. Throws invalid_argument. */
export function fromJsonBytes(schema: DescMessage, bytes: Buffer): Message {
  const json = parseJson(bytes);
  if (json === undefined) throw malformed(EMPTY_BODY);
  const plain = isObject(json) && !hasOneofField(schema, json) ? json : undefined;
  const message = plain === undefined ? undefined : fastDecodeJson(schema, plain);
  return message ?? fromJsonValue(schema, decimalsAsText(schema, json));
}

function fromJsonValue(schema: DescMessage, json: JsonValue): Message {
  try {
    return fromJson(schema, json, reading);
  } catch (error) {
    const wrong = isObject(json) && !isTooDeep(error) ? findWrongType(schema, json) : undefined;
    throw malformed(`parse JSON: ${messageOf(error)}`, schema, wrong);
  }
}

/** Throws as `fromJsonBytes` where a field has the wrong type. The decoder of connect-es reports all else. */
export function checkTypes(schema: DescMessage, json: JsonValue): void {
  if (isObject(json) && findWrongType(schema, json) !== undefined) fromJsonValue(schema, json);
}

/** As connect-es decodes and reports. Throws invalid_argument. */
export function fromBinaryBytes(schema: DescMessage, bytes: Buffer): Message {
  try {
    return fastDecodeBinary(schema, bytes) ?? fromBinary(schema, bytes);
  } catch (error) {
    throw malformed(`parse binary: ${messageOf(error)}`);
  }
}

function malformed(message: string, schema?: DescMessage, wrong?: WrongType): ConnectError {
  return rejection("MALFORMED_MESSAGE", message, { violations: violationsOf(schema, wrong) });
}

function violationsOf(schema: DescMessage | undefined, wrong: WrongType | undefined): Violation[] {
  if (schema === undefined || wrong === undefined) return [];
  return [{ field: protoPath(schema, wrong.path) ?? wrong.path, description: wrong.problem }];
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
