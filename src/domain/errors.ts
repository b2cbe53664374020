/** Why a query fails: see "The surface" in the specification. src/transport/errors.ts maps it to a status and body. */
export type RegistryErrorReason =
  /** The query is malformed or incomplete, or names another registrar. */
  | "invalid"
  /** A requested or required object does not exist. */
  | "not-found"
  /** A contract is between synchronizers, or the required contracts share none. */
  | "conflict"
  /** The service cannot answer now; retrying later may succeed. */
  | "unavailable";

/** `instanceof` has to hold across copies of this class: a registry module may bundle its own. */
const BRAND = Symbol.for("offledger.RegistryError");

/** A query that fails. The message is for the caller and names what is wrong. */
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

/** Formats an outside value for a message: a scalar as JSON, at most 80 characters; a list or object by its type. */
export function formatValue(value: object | string | number | boolean | null): string {
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "an object";
  const text = JSON.stringify(value);
  // Cutting a surrogate pair in half would give a string that gRPC cannot send.
  return text.length > 80 ? `${text.slice(0, 80).toWellFormed()}…` : text;
}

export const invalid = (message: string): RegistryError => new RegistryError("invalid", message);
export const notFound = (message: string): RegistryError => new RegistryError("not-found", message);
export const conflict = (message: string): RegistryError => new RegistryError("conflict", message);
export const unavailable = (message: string): RegistryError => new RegistryError("unavailable", message);
