import {
  type DescField,
  type DescMessage,
  type JsonObject,
  type JsonValue,
  type Message,
  ScalarType,
} from "@bufbuild/protobuf";
import { formatValue } from "../../domain/errors.js";
import { fromJsonValue, isObject } from "../decoding/decode.js";
import { plainJsonReader } from "../decoding/plain.js";
import { rejection } from "../errors.js";
import type { Binding } from "./http-rules.js";
import { valueOf } from "./path-template.js";

type Parameters = Readonly<Record<string, string | undefined>>;

/**
 * Builds a request message from the body, or from the query where the rule has no body. Fields that the path names are
 * read from the path only. Throws invalid_argument if the body is not an object or a field has the wrong type.
 */
export type RequestReader = (parameters: Parameters, body: JsonValue, query?: Query) => Message;

export function requestReader(schema: DescMessage, { path: { variables }, hasBody }: Binding): RequestReader {
  const notOnRest = schema.fields.filter((field) => !isOnRest(field)).flatMap(({ jsonName, name }) => [jsonName, name]);
  const inPath = variables.map(({ fieldPath: [name, ...rest] }) =>
    rest.length > 0 ? undefined : schema.fields.find((field) => field.name === name && isText(field))?.localName,
  );
  const readPlain =
    hasBody && inPath.every((name) => name !== undefined) ? plainJsonReader(schema, inPath, notOnRest) : undefined;
  return (parameters, body, query = {}) => {
    if (readPlain !== undefined && isObject(body)) {
      const given: Record<string, string> = {};
      for (const [index, variable] of variables.entries()) given[inPath[index] ?? ""] = valueOf(variable, parameters);
      const message = readPlain(body, given);
      if (message !== undefined) return message;
    }
    const fields = hasBody ? { ...bodyObject(body) } : queryFields(schema, query);
    for (const name of notOnRest) if (fields[name] !== undefined) delete fields[name];
    for (const variable of variables) bind(fields, schema, variable.fieldPath, valueOf(variable, parameters));
    return fromJsonValue(schema, fields);
  };
}

const isText = (field: DescField): boolean => field.fieldKind === "scalar" && field.scalar === ScalarType.STRING;

/** Sets the field at the end of a path of fields, and replaces its present value. */
function bind(into: JsonObject, schema: DescMessage, fieldPath: readonly string[], value: string): void {
  const [name, ...rest] = fieldPath;
  const field = schema.fields.find((known) => known.name === name);
  if (field === undefined) throw new Error(`${schema.typeName} has no field ${name}, named in a path template`);
  if (rest.length === 0 || field.message === undefined) {
    if (field.name !== field.jsonName) delete into[field.name];
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
    into[field.jsonName] = parameterValue(field, name, known, given);
  }
}

function parameterValue(
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

/**
 * Whether a field exists on REST. Members of a oneof do not: they are typed forms of a field that REST has as JSON, for
 * callers with generated code. In a REST body they count as unknown fields.
 */
export const isOnRest = (field: DescField): boolean => field.oneof === undefined;

export const restFields = (message: DescMessage): readonly DescField[] => message.fields.filter(isOnRest);
