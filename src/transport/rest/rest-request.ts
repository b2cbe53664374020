import type { DescMessage, JsonObject, JsonValue, Message } from "@bufbuild/protobuf";
import { formatValue } from "../../domain/errors.js";
import { rejection } from "../errors.js";
import type { Binding } from "./http-rules.js";
import { valueOf } from "./path-template.js";
import { fromJsonValue, isObject } from "../decoding/decode.js";
import { isOnRest } from "./rest-fields.js";
import { type Query, queryFields } from "./query.js";

type Parameters = Readonly<Record<string, string | undefined>>;

/**
 * Builds a request message from the body, or from the query where the rule has no body. Fields that the path names are
 * read from the path only. Throws invalid_argument if the body is not an object or a field has the wrong type.
 */
export type RequestReader = (parameters: Parameters, body: JsonValue, query?: Query) => Message;

export function requestReader(schema: DescMessage, { path: { variables }, hasBody }: Binding): RequestReader {
  const notOnRest = schema.fields.filter((field) => !isOnRest(field));
  return (parameters, body, query = {}) => {
    const fields = hasBody ? { ...bodyObject(body) } : queryFields(schema, query);
    for (const { jsonName, name } of notOnRest) {
      delete fields[jsonName];
      delete fields[name];
    }
    for (const variable of variables) bind(fields, schema, variable.fieldPath, valueOf(variable, parameters));
    return fromJsonValue(schema, fields);
  };
}

/** Sets the field at the end of a path of fields, and replaces its present value. */
function bind(into: JsonObject, schema: DescMessage, fieldPath: readonly string[], value: string): void {
  const [name, ...rest] = fieldPath;
  const field = schema.fields.find((known) => known.name === name);
  if (field === undefined) throw new Error(`${schema.typeName} has no field ${name}, named in a path template`);
  if (rest.length === 0 || field.message === undefined) {
    delete into[field.name];
    into[field.jsonName] = value;
    return;
  }
  const given = into[field.jsonName] ?? into[field.name];
  const inner: JsonObject = given !== undefined && isObject(given) ? { ...given } : {};
  delete into[field.name];
  into[field.jsonName] = inner;
  bind(inner, field.message, rest, value);
}

function bodyObject(body: JsonValue): JsonObject {
  if (isObject(body)) return body;
  throw rejection("MALFORMED_MESSAGE", `the body must be a JSON object, but is ${formatValue(body)}`);
}
