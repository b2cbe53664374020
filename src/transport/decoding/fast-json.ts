/** Plain requests from JSON. */
import type { DescMessage, JsonObject, JsonValue, Message } from "@bufbuild/protobuf";
import { MAX_DEPTH, type FastField, fastSchema } from "./fast-schema.js";

/**
 * The message of an object, or undefined where the library has to look at it.
 * `given` are the fields that are known already, by their place among the
 * fields of the schema: what the object says of them is not looked at.
 */
export function fastDecodeJson(
  schema: DescMessage,
  json: JsonObject,
  given: readonly (string | undefined)[] = [],
): Message | undefined {
  const plain = fastSchema(schema);
  if (plain === undefined) return undefined;
  const { fields } = plain;
  const message = plain.create();
  for (let index = 0; index < fields.length; index++) {
    const field = fields[index];
    if (field === undefined) continue;
    const value = given[index] ?? valueOf(field, json);
    if (value !== undefined && !fits(field, value)) return undefined;
    plain.set(message, index, value);
  }
  return message;
}

/** Null, which fits no type, stands for both spellings at once. */
function valueOf({ jsonName, protoName }: FastField, json: JsonObject): JsonValue | undefined {
  const value = json[jsonName];
  if (protoName === jsonName) return value;
  const other = json[protoName];
  if (other === undefined) return value;
  return value === undefined ? other : null;
}

function fits({ type }: FastField, value: JsonValue): boolean {
  switch (type) {
    case "text":
      return isText(value);
    case "bool":
      return typeof value === "boolean";
    case "object":
      return isPlainObject(value, 1);
  }
}

/** Half a pair of surrogates cannot be written in UTF-8. */
function isText(value: JsonValue): boolean {
  return typeof value === "string" && value.isWellFormed();
}

function isPlainObject(value: JsonValue, depth: number): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value) || depth > MAX_DEPTH) return false;
  for (const key in value) {
    if (!key.isWellFormed() || !isPlain(value[key] ?? null, depth + 1)) return false;
  }
  return true;
}

function isPlain(value: JsonValue, depth: number): boolean {
  if (typeof value === "string") return value.isWellFormed();
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object" || value === null) return true;
  if (Array.isArray(value)) return depth <= MAX_DEPTH && value.every((one) => isPlain(one, depth + 1));
  return isPlainObject(value, depth);
}
