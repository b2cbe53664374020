/** Why a query has no answer. src/transport/errors.ts maps each reason to the statuses of the protocols. */
export type RegistryErrorReason =
  /** The request is wrong: a field is missing or malformed, or names another registrar. */
  | "invalid"
  /** The requested contract, or one that the answer requires, does not exist. */
  | "not-found"
  /** A contract is in reassignment, or the required contracts have no synchronizer in common. */
  | "conflict"
  /** Temporary: the request may be retried. */
  | "unavailable";

/** A registry loaded as a module may have its own copy of this class: `instanceof` has to recognise both. */
const BRAND = Symbol.for("offledger.RegistryError");

/** A query that has no answer. The caller sees the message. */
export class RegistryError extends Error {
  readonly reason: RegistryErrorReason;
  readonly [BRAND] = true;

  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === "object" && value !== null && BRAND in value;
  }

  constructor(reason: RegistryErrorReason, message: string) {
    super(message);
    this.name = "RegistryError";
    this.reason = reason;
  }
}

/** Formats an untrusted value for a message: a scalar shortened to 80 characters, anything else by its type. */
export function formatValue(value: object | string | number | boolean | null): string {
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "an object";
  const text = JSON.stringify(value);
  // Cutting may split a surrogate pair, which protobuf cannot encode.
  return text.length > 80 ? `${text.slice(0, 80).toWellFormed()}…` : text;
}

export const invalid = (message: string): RegistryError => new RegistryError("invalid", message);
export const notFound = (message: string): RegistryError => new RegistryError("not-found", message);
export const conflict = (message: string): RegistryError => new RegistryError("conflict", message);
export const unavailable = (message: string): RegistryError => new RegistryError("unavailable", message);
