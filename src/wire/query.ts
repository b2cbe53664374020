/** Query parameters -> fields of a request message in JSON. Pure. */
import { type DescField, type DescMessage, type JsonObject, type JsonValue, ScalarType } from "@bufbuild/protobuf";
import { malformed } from "./errors.js";

/** As the server reads a query: a parameter that comes more than once has a list. */
export type Query = Readonly<Record<string, string | readonly string[]>>;

/**
 * The fields that a query names, by their names in JSON or in the proto file,
 * with points between the names of nested ones. Unknown parameters are ignored.
 * Throws invalid_argument where a field that is no list is given twice.
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
  const field = schema.fields.find((known) => known.jsonName === first || known.name === first);
  if (field === undefined) return;
  if (field.fieldKind === "message" && rest.length > 0) {
    const known = into[field.jsonName];
    const inner: JsonObject = typeof known === "object" && known !== null && !Array.isArray(known) ? known : {};
    into[field.jsonName] = inner;
    put(inner, field.message, rest, name, given);
  } else if (rest.length === 0) {
    into[field.jsonName] = valueOf(field, name, given);
  }
}

function valueOf(field: DescField, name: string, given: string | readonly string[]): JsonValue {
  const texts = typeof given === "string" ? [given] : given;
  if (field.fieldKind === "list") return texts.map((text) => scalar(field, text));
  const [text = "", ...more] = texts;
  if (more.length > 0) throw malformed(`the query parameter ${name} is given more than once`);
  return scalar(field, text);
}

/** The JSON of a boolean and of a number; every other text stands for itself. */
function scalar(field: DescField, text: string): JsonValue {
  const type = field.fieldKind === "scalar" || field.fieldKind === "list" ? field.scalar : undefined;
  if (type === ScalarType.BOOL && (text === "true" || text === "false")) return text === "true";
  if (type === ScalarType.INT32 && /^-?\d{1,15}$/.test(text)) return Number(text);
  return text;
}
