/** Path parameters and JSON body -> the request message of an rpc. Pure. */
import {
  type DescField,
  type DescMessage,
  fromJson,
  type JsonObject,
  type JsonValue,
  type Message,
  ScalarType,
} from "@bufbuild/protobuf";
import { isFieldError } from "@bufbuild/protobuf/reflect";
import { malformed } from "./errors.js";
import type { Binding } from "./http-rules.js";
import { valueOf } from "./path-template.js";

type Parameters = Readonly<Record<string, string | undefined>>;

/**
 * Builds the request message. What the path names is taken from the path alone:
 * a field of the same name in the body is dropped. Throws invalid_argument
 * where the body is not an object, or a field is of the wrong type.
 */
export function requestMessage(
  schema: DescMessage,
  binding: Binding,
  parameters: Parameters,
  body: JsonValue,
): Message {
  if (!isObject(body))
    throw malformed(`the body has to be a JSON object, and is ${body === null ? "null" : typeName(body)}`);
  const fields: JsonObject = binding.hasBody ? { ...body } : {};
  for (const variable of binding.path.variables) {
    bind(fields, schema, variable.fieldPath, valueOf(variable, parameters));
  }
  try {
    return fromJson(schema, fields, { ignoreUnknownFields: true });
  } catch (error) {
    throw malformed(reasonOf(error, schema, fields));
  }
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

/** Names the field that is wrong; the library does so for scalars only, and in the spelling of the proto file. */
function reasonOf(error: unknown, schema: DescMessage, json: JsonObject): string {
  const message = error instanceof Error ? error.message : String(error);
  if (message.includes("recursion depth")) return "the body is nested too deep";
  const cause = error instanceof Error ? error.cause : undefined;
  const field = isFieldError(cause) ? cause.field() : notAnObject(schema, json);
  if (field === undefined || field.kind === "oneof") return message;
  const value = json[field.jsonName] ?? json[field.name];
  return `${field.jsonName} has to be ${expected(field)}${value === undefined ? "" : `, and is ${shown(value)}`}`;
}

function shown(value: JsonValue): string {
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

/** The field that holds a message and was given something else. */
function notAnObject(schema: DescMessage, json: JsonObject): DescField | undefined {
  for (const field of schema.fields) {
    const value = json[field.jsonName] ?? json[field.name];
    if (field.fieldKind !== "message" || value === undefined || value === null) continue;
    if (!isObject(value)) return field;
    const inner = notAnObject(field.message, value);
    if (inner !== undefined) return inner;
  }
  return undefined;
}

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
      return { [ScalarType.STRING]: "a string", [ScalarType.BOOL]: "a boolean" }[field.scalar as number] ?? "a number";
  }
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const typeName = (value: JsonValue): string => (Array.isArray(value) ? "a list" : `a ${typeof value}`);
