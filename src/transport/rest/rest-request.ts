import type { DescMessage, JsonObject, JsonValue, Message } from "@bufbuild/protobuf";
import { formatValue } from "../../domain/errors.js";
import { rejection } from "../errors.js";
import type { Binding } from "./http-rules.js";
import { valueOf } from "./path-template.js";
import { fromJsonObject } from "../decoding/decode.js";
import { isObject } from "../decoding/type-errors.js";
import { fastDecodeJson } from "../decoding/fast-json.js";
import { isOnRest } from "./rest-fields.js";
import { type Query, queryFields } from "./query.js";

type Parameters = Readonly<Record<string, string | undefined>>;

/**
 * Builds a request message from the body, or from the query where the rule has no body. Fields that the path names are
 * read from the path only. Throws invalid_argument if the body is not an object or a field has the wrong type.
 */
export type RequestReader = (parameters: Parameters, body: JsonValue, query?: Query) => Message;

export function requestReader(schema: DescMessage, { path: { variables }, hasBody }: Binding): RequestReader {
  const bound = schema.fields.map((field) => variables.find(({ fieldPath }) => fieldPath.join(".") === field.name));
  const notOnRest = schema.fields.filter((field) => !isOnRest(field));
  const noValues = bound.map((): string | undefined => undefined);
  // The fast decoder sets top-level fields only.
  const isFlat = bound.filter((variable) => variable !== undefined).length === variables.length;
  const readAny = (parameters: Parameters, json: JsonObject): Message => {
    const fields = { ...json };
    for (const { jsonName, name } of notOnRest) {
      delete fields[jsonName];
      delete fields[name];
    }
    for (const variable of variables) bind(fields, schema, variable.fieldPath, valueOf(variable, parameters));
    return fromJsonObject(schema, fields);
  };
  return (parameters, body, query = {}) => {
    const json = hasBody ? bodyObject(body) : queryFields(schema, query);
    if (!isFlat) return readAny(parameters, json);
    const fromPath = noValues.slice();
    for (let at = 0; at < bound.length; at++) {
      const variable = bound[at];
      if (variable !== undefined) fromPath[at] = valueOf(variable, parameters);
    }
    return fastDecodeJson(schema, json, fromPath) ?? readAny(parameters, json);
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
