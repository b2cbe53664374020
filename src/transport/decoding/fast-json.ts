import type { DescMessage, JsonObject, JsonValue, Message } from "@bufbuild/protobuf";
import { MAX_DEPTH, type FastField, fastSchema } from "./fast-schema.js";

/**
 * Undefined if the library has to decode. Members of oneofs are ignored. `known` overrides the object's values for
 * fields, by index in the schema.
 */
export function fastDecodeJson(
  schema: DescMessage,
  json: JsonObject,
  known: readonly (string | undefined)[] = [],
): Message | undefined {
  const fast = fastSchema(schema);
  if (fast === undefined) return undefined;
  const { fields } = fast;
  const message = fast.create();
  for (let index = 0; index < fields.length; index++) {
    const field = fields[index];
    if (field === undefined) continue;
    const value = known[index] ?? valueOf(field, json);
    if (value !== undefined && !fits(field, value)) return undefined;
    fast.set(message, index, value);
  }
  fast.unsetOneofs(message);
  return message;
}

/** Whether an object has a member of a oneof, which `fastDecodeJson` would ignore. */
export function hasOneofField(schema: DescMessage, json: JsonObject): boolean {
  const members = fastSchema(schema)?.oneofFields ?? [];
  return members.some(({ jsonName, protoName }) => json[jsonName] !== undefined || json[protoName] !== undefined);
}

/** Null, which fits no type, where both names of the field are present. */
function valueOf({ jsonName, protoName }: FastField, json: JsonObject): JsonValue | undefined {
  const value = json[jsonName];
  if (protoName === jsonName) return value;
  const other = json[protoName];
  if (other === undefined) return value;
  return value === undefined ? other : null;
}

function fits({ type }: FastField, value: JsonValue): boolean {
  switch (type) {
    case "string":
      return isWellFormedString(value);
    case "bool":
      return typeof value === "boolean";
    case "struct":
      return isStruct(value, 1);
  }
}

/** A lone surrogate has no UTF-8 encoding. */
function isWellFormedString(value: JsonValue): boolean {
  return typeof value === "string" && value.isWellFormed();
}

function isStruct(value: JsonValue, depth: number): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value) || depth > MAX_DEPTH) return false;
  for (const key in value) {
    // The library drops `__proto__`.
    if (key === "__proto__" || !key.isWellFormed() || !isStructValue(value[key] ?? null, depth + 1)) return false;
  }
  return true;
}

function isStructValue(value: JsonValue, depth: number): boolean {
  if (typeof value === "string") return value.isWellFormed();
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object" || value === null) return true;
  if (Array.isArray(value)) return depth <= MAX_DEPTH && value.every((one) => isStructValue(one, depth + 1));
  return isStruct(value, depth);
}
