import { type DescField, type DescMessage, type JsonObject, type JsonValue, ScalarType } from "@bufbuild/protobuf";
import { formatValue } from "../../domain/errors.js";
import { rejection } from "../errors.js";
import { restFields } from "./rest-fields.js";

/** A query as Fastify parses it: a repeated parameter is a list. */
export type Query = Readonly<Record<string, string | readonly string[]>>;

/**
 * The fields that a query names, by JSON or proto name, with dots between nested names. Unknown parameters are ignored.
 * Throws invalid_argument where a field that is not a list is given twice.
 */
export function queryFields(schema: DescMessage, query: Query): JsonObject {
  const fields: JsonObject = {};
  for (const [name, given] of Object.entries(query)) put(fields, schema, name.split("."), name, given);
  return fields;
}

function put(
  into: JsonObject,
  schema: DescMessage,
  [first, ...rest]: readonly string[],
  name: string,
  given: string | readonly string[],
): void {
  const field = restFields(schema).find((known) => known.jsonName === first || known.name === first);
  if (field === undefined) return;
  const known = into[field.jsonName];
  if (field.fieldKind === "message" && rest.length > 0) {
    const inner: JsonObject = typeof known === "object" && known !== null && !Array.isArray(known) ? known : {};
    into[field.jsonName] = inner;
    put(inner, field.message, rest, name, given);
  } else if (rest.length === 0) {
    into[field.jsonName] = valueOf(field, name, known, given);
  }
}

function valueOf(
  field: DescField,
  name: string,
  known: JsonValue | undefined,
  given: string | readonly string[],
): JsonValue {
  const values = (typeof given === "string" ? [given] : given).map((text) => scalar(field, name, text));
  if (field.fieldKind === "list") return Array.isArray(known) ? [...known, ...values] : values;
  const [value = "", ...more] = values;
  if (more.length > 0 || known !== undefined) {
    throw rejection("MALFORMED_MESSAGE", `the query parameter ${name} is given more than once`);
  }
  return value;
}

/** Booleans and int32 numbers become JSON values; every other parameter stays a string. */
function scalar(field: DescField, name: string, text: string): JsonValue {
  const type = field.fieldKind === "scalar" || field.fieldKind === "list" ? field.scalar : undefined;
  if (type === ScalarType.BOOL && (text === "true" || text === "false")) return text === "true";
  if (type !== ScalarType.INT32) return text;
  if (/^-?\d{1,15}$/.test(text)) return Number(text);
  throw rejection("MALFORMED_MESSAGE", `${name} must be an integer, but is ${formatValue(text)}`);
}
