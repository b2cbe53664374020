/** Limits on the structure of choice arguments, whatever their size in bytes. */
import type { DescField, DescMessage, JsonValue, Message } from "@bufbuild/protobuf";
import type { ConnectError } from "@connectrpc/connect";
import { rejection } from "../errors.js";

export interface ArgumentLimits {
  /** Maximum nesting of objects and lists. */
  readonly depth: number;
  /** Maximum sum of object keys and list elements. */
  readonly keys: number;
}

/** Checks the Structs and typed arguments of a request. Throws invalid_argument. */
export type SizeCheck = (request: Message) => void;

export function argumentLimitCheck(schema: DescMessage, limits: ArgumentLimits): SizeCheck | undefined {
  const fields = schema.fields.filter(
    (field) => field.fieldKind === "message" && field.message.typeName === "google.protobuf.Struct",
  );
  if (fields.length === 0) return undefined;
  return (request) => {
    const values = request as unknown as Readonly<Record<string, JsonValue | undefined>>;
    for (const { localName, fields: members } of schema.oneofs) checkOneof(values[localName], members, limits);
    for (const field of fields) {
      const value = values[field.localName];
      if (value !== undefined && value !== null) new Measure(field, limits).take(value, 1);
    }
  };
}

interface OneofValue {
  readonly case: string | undefined;
  readonly value?: JsonValue;
}

/** Messages are objects: their fields count as keys. */
function checkOneof(oneof: unknown, members: readonly DescField[], limits: ArgumentLimits): void {
  const { case: name, value } = oneof as OneofValue;
  const field = members.find(({ localName }) => localName === name);
  if (field !== undefined) new Measure(field, limits).take(value ?? null, 1);
}

class Measure {
  readonly #field: DescField;
  readonly #limits: ArgumentLimits;
  #keys = 0;

  constructor(field: DescField, limits: ArgumentLimits) {
    this.#field = field;
    this.#limits = limits;
  }

  take(value: JsonValue, depth: number): void {
    if (typeof value !== "object" || value === null) return;
    if (depth > this.#limits.depth) {
      throw this.#error(`is nested deeper than the limit of ${this.#limits.depth}`);
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
      throw this.#error(`has more keys and elements than the limit of ${this.#limits.keys}`);
    }
  }

  #error(problem: string): ConnectError {
    const { name, jsonName } = this.#field;
    const violations = [{ field: name, description: problem }];
    return rejection("ARGUMENTS_TOO_COMPLEX", `${jsonName} ${problem}`, { violations });
  }
}
