/** Path parameters, query and JSON body -> the request message of an rpc. Pure. */
import type { DescMessage, JsonObject, JsonValue, Message } from "@bufbuild/protobuf";
import { formatValue } from "../../domain/errors.js";
import { malformed } from "../errors.js";
import type { Binding } from "./http-rules.js";
import { valueOf } from "./path-template.js";
import { fromJsonObject } from "../decoding/decode.js";
import { isObject } from "../decoding/type-errors.js";
import { fastDecodeJson } from "../decoding/fast-json.js";
import { type Query, queryFields } from "./query.js";

type Parameters = Readonly<Record<string, string | undefined>>;

/**
 * Builds the request message: of the body where the rule has one, else of the
 * query. What the path names is taken from the path alone: a field of the same
 * name in body or query is dropped. Throws invalid_argument where the body is
 * not an object, or a field is of the wrong type.
 */
export type RequestReader = (parameters: Parameters, body: JsonValue, query?: Query) => Message;

/** The reader of the requests that come by one binding of an rpc. */
export function requestReader(schema: DescMessage, { path: { variables }, hasBody }: Binding): RequestReader {
  const bound = schema.fields.map((field) => variables.find(({ fieldPath }) => fieldPath.join(".") === field.name));
  const nothing = bound.map((): string | undefined => undefined);
  // A path that leads to a field of a field is nothing for the short way.
  const isShort = bound.filter((variable) => variable !== undefined).length === variables.length;
  const whole = (parameters: Parameters, json: JsonObject): Message => {
    const fields = { ...json };
    for (const variable of variables) bind(fields, schema, variable.fieldPath, valueOf(variable, parameters));
    return fromJsonObject(schema, fields);
  };
  return (parameters, body, query = {}) => {
    const json = hasBody ? bodyObject(body) : queryFields(schema, query);
    if (!isShort) return whole(parameters, json);
    const given = nothing.slice();
    for (let at = 0; at < bound.length; at++) {
      const variable = bound[at];
      if (variable !== undefined) given[at] = valueOf(variable, parameters);
    }
    return fastDecodeJson(schema, json, given) ?? whole(parameters, json);
  };
}

/** Sets the field at the end of a path of fields, in place of whatever stands there. */
function bind(into: JsonObject, schema: DescMessage, fieldPath: readonly string[], value: string): void {
  const [name, ...rest] = fieldPath;
  const field = schema.fields.find((known) => known.name === name);
  if (field === undefined) throw new Error(`${schema.typeName} has no field ${name}, which a path template names`);
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
  throw malformed(`the body has to be a JSON object, and is ${formatValue(body)}`);
}
