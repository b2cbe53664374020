/** Fields of JSON that others have sent, choice arguments and payloads: schemas of zod say what they must be. */
import { z } from "zod";
import { parseDecimal } from "../domain/decimal.js";
import { formatValue, invalidField } from "../domain/errors.js";
import { type JsonValue, plainDecimal, parseLedgerTime } from "../util/json.js";

/**
 * What the schema makes of the value. Throws RegistryError "invalid" with the path of the first field that is wrong; `path` is
 * that of the value, "" for a payload.
 */
export function readFields<T>(schema: z.ZodType<T>, value: unknown, path: string): T {
  const { data, success } = schema.safeParse(value);
  if (success) return data;
  // With messages of its own a schema takes fifteen times as long.
  const { error } = schema.safeParse(value, { error: problemOf });
  const [first] = error?.issues ?? [];
  // An error has an issue at least.
  if (first === undefined) throw error;
  const found = innermost(first);
  throw invalidField(pathTo(path, found.path), found.message);
}

/** A non-empty string: a party, a contract id, an identifier. */
export const nonEmpty = z.string().min(1);

/** A time (RFC 3339, UTC) in microseconds since 1970. */
export const time = z.string().transform((text, context) => {
  try {
    return parseLedgerTime(text);
  } catch {
    context.addIssue(`must be a time such as 2026-01-31T12:00:00.123456Z, but is ${formatValue(text)}`);
    return z.NEVER;
  }
});

/** A decimal in units of 10^-10. */
export const decimal = z
  .preprocess((value) => (typeof value === "number" ? plainDecimal(value) : value), z.string())
  .transform((text, context) => {
    const amount = parseDecimal(text);
    if (amount !== undefined) return amount;
    context.addIssue(`must be a decimal such as 1.0000000000, but is ${formatValue(text)}`);
    return z.NEVER;
  });

/** The keys of a Daml map: an object, or a list of pairs of key and value. None if it is absent or null. */
export const mapKeys = z
  .union([z.array(z.tuple([z.string()], z.unknown())), z.record(z.string(), z.unknown())])
  .nullish()
  .transform((map) => (Array.isArray(map) ? map.map(([key]) => key) : Object.keys(map ?? {})));

const EXPECTED: Readonly<Record<string, string>> = {
  array: "a list",
  object: "an object",
  record: "an object",
  tuple: "a list",
};

/** What is wrong, as a predicate; undefined where the schema says it. */
function problemOf({ code, input, ...issue }: z.core.$ZodRawIssue): string | undefined {
  // JSON has nothing else.
  const value = input as JsonValue | undefined;
  const found = value === undefined || value === null ? "is missing" : `is ${formatValue(value)}`;
  if (code === "too_small") return issue.origin === "string" ? "is empty" : undefined;
  if (code === "invalid_type") {
    const expected = String(issue.expected);
    return `must be ${EXPECTED[expected] ?? `a ${expected}`}, but ${found}`;
  }
  if (code === "invalid_value") return `must be one of ${(issue.values as string[]).join(", ")}, but ${found}`;
  return code === "invalid_union" ? `must be a map, but ${found}` : undefined;
}

/** Of a union, what is wrong inside of the alternative that the value resembles. */
function innermost({ path, message, ...issue }: z.core.$ZodIssue): { path: PropertyKey[]; message: string } {
  const alternatives = issue.code === "invalid_union" ? issue.errors : [];
  const [inner] = alternatives.find(([first]) => first !== undefined && first.path.length > 0) ?? [];
  if (inner === undefined) return { path, message };
  const found = innermost(inner);
  return { path: [...path, ...found.path], message: found.message };
}

const pathTo = (path: string, steps: readonly PropertyKey[]): string =>
  steps.reduce<string>((before, step) => {
    if (typeof step === "number") return `${before}[${step}]`;
    return before === "" ? String(step) : `${before}.${String(step)}`;
  }, path);
