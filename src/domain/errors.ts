/**
 * Why a question has no answer. The page "The surface" of the specification
 * lists when each applies; src/transport/errors.ts says how each looks on the wire.
 */
export type RegistryErrorReason =
  /** The question itself is wrong: it lacks something, or names another registrar. */
  | "invalid"
  /** Something that is asked for, or needed for the answer, does not exist. */
  | "not-found"
  /** A contract is between synchronizers, or the needed ones share none. */
  | "conflict"
  /** Nothing can be answered now; later it can. */
  | "unavailable";

/** A registry that comes as a module may have brought another copy of this class. */
const BRAND = Symbol.for("offledger.RegistryError");

/** A question that has no answer. The message is for the caller: it names what is wrong. */
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

/** How a value that came from outside stands in a message: a scalar as it is, shortened; anything larger by its type. */
export function formatValue(value: object | string | number | boolean | null): string {
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "an object";
  const text = JSON.stringify(value);
  // Cut between the halves of a pair it would be a text that gRPC cannot send.
  return text.length > 80 ? `${text.slice(0, 80).toWellFormed()}…` : text;
}

export const invalid = (message: string): RegistryError => new RegistryError("invalid", message);
export const notFound = (message: string): RegistryError => new RegistryError("not-found", message);
export const conflict = (message: string): RegistryError => new RegistryError("conflict", message);
export const unavailable = (message: string): RegistryError => new RegistryError("unavailable", message);
