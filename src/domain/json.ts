/** JSON, as the ledger and callers send it. */
export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;

export interface JsonObject {
  [key: string]: JsonValue;
}

export const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The value at a path of fields; undefined where one is absent, or what should have it is no object. */
export const valueAt = (value: JsonValue | undefined, ...path: readonly string[]): JsonValue | undefined =>
  path.reduce<JsonValue | undefined>(
    (inner, name) => (isObject(inner) && Object.hasOwn(inner, name) ? inner[name] : undefined),
    value,
  );

/** A number as a decimal without exponent, `1e-7` as `0.0000001`, with the digits that JSON.stringify would write. */
export function plainDecimal(value: number): string {
  const text = String(value);
  const [, sign = "", whole = "", fraction = "", exponent] = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(text) ?? [];
  if (exponent === undefined) return text;
  const digits = whole + fraction;
  const point = whole.length + Number(exponent);
  // Only numbers below 1e-6 and from 1e21 have an exponent: the point is before or after all digits.
  return sign + (point <= 0 ? `0.${"0".repeat(-point)}${digits}` : digits.padEnd(point, "0"));
}
