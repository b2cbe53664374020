/** Limits on the structure of choice arguments, whatever their size in bytes. */
import type { DescMessage, JsonValue, Message } from "@bufbuild/protobuf";
import { malformed } from "../errors.js";

export interface ArgumentLimits {
  /** Maximum nesting of objects and lists. */
  readonly depth: number;
  /** Maximum sum of object keys and list elements. */
  readonly keys: number;
}

export const DEFAULT_ARGUMENT_LIMITS: ArgumentLimits = { depth: 48, keys: 50_000 };

/** Checks the Structs and typed arguments of a request. Throws invalid_argument. */
export type SizeCheck = (request: Message) => void;

export function argumentLimitCheck(schema: DescMessage, limits: ArgumentLimits): SizeCheck | undefined {
  const fields = schema.fields.filter(
    (field) => field.fieldKind === "message" && field.message.typeName === "google.protobuf.Struct",
  );
  if (fields.length === 0) return undefined;
  return (request) => {
    const values = request as unknown as Readonly<Record<string, JsonValue | undefined>>;
    for (const { localName } of schema.oneofs) checkOneof(values[localName] as unknown as OneofValue, limits);
    for (const { localName, jsonName } of fields) {
      const value = values[localName];
      if (value !== undefined && value !== null) new Measure(jsonName, limits).take(value, 1);
    }
  };
}

interface OneofValue {
  readonly case: string | undefined;
  readonly value?: Message;
}

/** Messages are objects: their fields count as keys. */
function checkOneof(oneof: OneofValue, limits: ArgumentLimits): void {
  if (oneof.case !== undefined) new Measure(oneof.case, limits).take(oneof.value as unknown as JsonValue, 1);
}

class Measure {
  readonly #name: string;
  readonly #limits: ArgumentLimits;
  #keys = 0;

  constructor(name: string, limits: ArgumentLimits) {
    this.#name = name;
    this.#limits = limits;
  }

  take(value: JsonValue, depth: number): void {
    if (typeof value !== "object" || value === null) return;
    if (depth > this.#limits.depth) {
      throw malformed(`${this.#name} is nested deeper than the limit of ${this.#limits.depth}`);
    }
    if (Array.isArray(value)) {
      this.#count(value.length);
      for (const one of value) this.take(one, depth + 1);
      return;
    }
    for (const key in value) {
      this.#count(1);
      this.take(value[key] ?? null, depth + 1);
    }
  }

  #count(more: number): void {
    this.#keys += more;
    if (this.#keys > this.#limits.keys) {
      throw malformed(`${this.#name} has more keys and elements than the limit of ${this.#limits.keys}`);
    }
  }
}
