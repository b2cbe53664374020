import { type DescField, type DescMessage, type JsonObject, type JsonValue, ScalarType } from "@bufbuild/protobuf";
import { formatValue } from "../../domain/errors.js";

/** A field of the wrong type. */
export interface WrongType {
  /** In JSON names. */
  readonly path: string;
  readonly problem: string;
}

/** Whether the library gave up before it saw all fields. */
export const isTooDeep = (error: unknown): boolean =>
  error instanceof RangeError || (error instanceof Error && error.message.includes("recursion depth"));

/** The first field of the wrong type: the library reports only some paths, in proto names. */
export function findWrongType(schema: DescMessage, json: JsonObject): WrongType | undefined {
  return wrongField(schema, json, "");
}

function wrongField(schema: DescMessage, json: JsonObject, path: string): WrongType | undefined {
  for (const field of schema.fields) {
    const value = json[field.jsonName] ?? json[field.name];
    if (value === undefined || value === null) continue;
    const name = `${path}${field.jsonName}`;
    if (!fits(field, value)) return wrongType(name, expected(field), value);
    const inner = Array.isArray(value) ? wrongElement(field, value, name) : wrongInner(field, value, name);
    if (inner !== undefined) return inner;
  }
  return undefined;
}

function wrongInner(field: DescField, value: JsonValue, name: string): WrongType | undefined {
  const message = field.fieldKind === "message" || field.fieldKind === "list" ? field.message : undefined;
  if (message === undefined || !isObject(value) || message.typeName.startsWith("google.protobuf.")) return undefined;
  return wrongField(message, value, `${name}.`);
}

function wrongElement(field: DescField, values: readonly JsonValue[], name: string): WrongType | undefined {
  if (field.fieldKind !== "list") return undefined;
  for (const [index, value] of values.entries()) {
    const path = `${name}[${index}]`;
    const isFit =
      field.listKind === "message"
        ? isObject(value)
        : typeof value === (jsonTypes[field.scalar as number] ?? typeof value);
    if (!isFit) return wrongType(path, field.listKind === "message" ? "an object" : "a string", value);
    const inner = wrongInner(field, value, path);
    if (inner !== undefined) return inner;
  }
  return undefined;
}

const wrongType = (path: string, expectation: string, value: JsonValue): WrongType => ({
  path,
  problem: `must be ${expectation}, but is ${formatValue(value)}`,
});

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
      // Other numeric types have several JSON forms, which the library knows.
      return typeof value === (jsonTypes[field.scalar as number] ?? typeof value);
  }
}

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

/** JSON allows a number as a string. */
function isInt32(value: JsonValue): boolean {
  const isNumeric = typeof value === "number" || (typeof value === "string" && /^-?\d+$/.test(value));
  return isNumeric && Number.isInteger(Number(value)) && Math.abs(Number(value)) <= 0x7fffffff;
}

export function isObject(value: JsonValue): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
