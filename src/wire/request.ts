/** Path parameters, query and JSON body -> the request message of an rpc. Pure. */
import {
  type DescField,
  type DescMessage,
  fromJson,
  type JsonObject,
  type JsonValue,
  type Message,
  ScalarType,
} from "@bufbuild/protobuf";
import { shown } from "../registry/errors.js";
import { malformed } from "./errors.js";
import type { Binding } from "./http-rules.js";
import { valueOf } from "./path-template.js";
import { type PlainReader, plainReader } from "./plain.js";
import { type Query, queryFields } from "./query.js";

type Parameters = Readonly<Record<string, string | undefined>>;

/**
 * Builds the request message: of the body where the rule has one, else of the
 * query. What the path names is taken from the path alone: a field of the same
 * name in body or query is dropped. Throws invalid_argument where the body is
 * not an object, or a field is of the wrong type.
 */
export function requestMessage(
  schema: DescMessage,
  binding: Binding,
  parameters: Parameters,
  body: JsonValue,
  query: Query = {},
): Message {
  const fields: JsonObject = binding.hasBody ? { ...bodyObject(body) } : queryFields(schema, query);
  for (const variable of binding.path.variables) {
    bind(fields, schema, variable.fieldPath, valueOf(variable, parameters));
  }
  return decoded(schema, fields);
}

/** The message in JSON, as every protocol reads it. Throws invalid_argument, and names the field that is wrong. */
export function decoded(schema: DescMessage, fields: JsonObject): Message {
  const plain = plainOf(schema)?.(fields);
  if (plain !== undefined) return plain;
  try {
    return fromJson(schema, fields, { ignoreUnknownFields: true });
  } catch (error) {
    throw malformed(reasonOf(error, schema, fields));
  }
}

const readers = new Map<DescMessage, PlainReader | undefined>();

/** Reads plain messages fast; undefined for those that are not. */
export function plainOf(schema: DescMessage): PlainReader | undefined {
  if (!readers.has(schema)) readers.set(schema, plainReader(schema));
  return readers.get(schema);
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
  throw malformed(`the body has to be a JSON object, and is ${shown(body)}`);
}

/** Names the field that is wrong, and the way to it; the library does so for some, and in the spelling of the proto file. */
function reasonOf(error: unknown, schema: DescMessage, json: JsonObject): string {
  const message = error instanceof Error ? error.message : String(error);
  if (message.includes("recursion depth") || error instanceof RangeError) return "the body is nested too deep";
  return wrongField(schema, json, "") ?? message;
}

/** The first field that was given a value of another JSON type than it takes. A Struct is any object. */
function wrongField(schema: DescMessage, json: JsonObject, path: string): string | undefined {
  for (const field of schema.fields) {
    const value = json[field.jsonName] ?? json[field.name];
    if (value === undefined || value === null) continue;
    const name = `${path}${field.jsonName}`;
    if (!fits(field, value)) return `${name} has to be ${expected(field)}, and is ${shown(value)}`;
    const inner = Array.isArray(value) ? wrongElement(field, value, name) : wrongInner(field, value, name);
    if (inner !== undefined) return inner;
  }
  return undefined;
}

/** The same within a field that is a message. */
function wrongInner(field: DescField, value: JsonValue, name: string): string | undefined {
  const message = field.fieldKind === "message" || field.fieldKind === "list" ? field.message : undefined;
  if (message === undefined || !isObject(value) || message.typeName.startsWith("google.protobuf.")) return undefined;
  return wrongField(message, value, `${name}.`);
}

/** The same within a list. */
function wrongElement(field: DescField, values: readonly JsonValue[], name: string): string | undefined {
  if (field.fieldKind !== "list") return undefined;
  for (const [index, value] of values.entries()) {
    const path = `${name}[${index}]`;
    const isFit =
      field.listKind === "message"
        ? isObject(value)
        : typeof value === (jsonTypes[field.scalar as number] ?? typeof value);
    if (!isFit)
      return `${path} has to be ${field.listKind === "message" ? "an object" : "a string"}, and is ${shown(value)}`;
    const inner = wrongInner(field, value, path);
    if (inner !== undefined) return inner;
  }
  return undefined;
}

function fits(field: DescField, value: JsonValue): boolean {
  switch (field.fieldKind) {
    case "list":
      return Array.isArray(value);
    case "map":
    case "message":
      return isObject(value);
    case "enum":
      return field.enum.values.some(({ name, number }) => name === value || number === value);
    case "scalar":
      if (field.scalar === ScalarType.INT32) return isInt32(value);
      // Of other numbers the library knows more forms than one.
      return typeof value === (jsonTypes[field.scalar as number] ?? typeof value);
  }
}

/** The scalar types that requests use, as JSON has them. */
const jsonTypes: Readonly<Record<number, "string" | "boolean">> = {
  [ScalarType.STRING]: "string",
  [ScalarType.BOOL]: "boolean",
};

function expected(field: DescField): string {
  switch (field.fieldKind) {
    case "list":
      return "a list";
    case "map":
    case "message":
      return "an object";
    case "enum":
      return `one of ${field.enum.values.map(({ name }) => name).join(", ")}`;
    case "scalar":
      return `a ${jsonTypes[field.scalar as number] ?? "whole number of 32 bits"}`;
  }
}

/** A number may stand as a text. */
function isInt32(value: JsonValue): boolean {
  const isNumeric = typeof value === "number" || (typeof value === "string" && /^-?\d+$/.test(value));
  return isNumeric && Number.isInteger(Number(value)) && Math.abs(Number(value)) <= 0x7fffffff;
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
