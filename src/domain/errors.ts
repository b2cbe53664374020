/** Errors of the rules and their causes. */
import { type CauseCode, causes as table } from "./causes.js";

/** Why a query fails: see "The surface" in the specification. */
export type RegistryErrorReason = "invalid" | "not-found" | "conflict" | "unavailable" | "unsupported";

/** A claim that a credential makes on its subject. */
export interface Claim {
  readonly property: string;
  readonly value: string;
}

/** What a cause is about. A field is absent if the cause has no such thing. */
export interface CauseFields {
  readonly registrar?: string | undefined;
  /** An id of the instrument. */
  readonly instrument?: string | undefined;
  /** The party that lacks credentials, or whose preapproval is meant. */
  readonly party?: string | undefined;
  /** The party that issues the missing credentials. */
  readonly issuer?: string | undefined;
  /** The claims that no credential makes. */
  readonly claims?: readonly Claim[] | undefined;
  /** The contract that is in the wrong place, or that the request names and that is not there. */
  readonly contractId?: string | undefined;
  /** The qualified name of the template of the contract that is missing or in the wrong place. */
  readonly template?: string | undefined;
  /** Where the contracts are needed, then where this one is. One alone: the contract is in reassignment. */
  readonly synchronizers?: readonly string[] | undefined;
  /** The wrong field of the request, as a path. */
  readonly field?: string | undefined;
  /** The limit that is exceeded: its name, and the largest number allowed. */
  readonly limit?: string | undefined;
  readonly maximum?: number | undefined;
}

/** One cause of an error, for programs: the log, the metrics, the details of RPC errors. */
export interface Cause extends CauseFields {
  /** A fixed name, in lower case with hyphens: of causes.ts, or of a registry module. */
  readonly code: string;
  /** What is wrong, for people, without a full stop. */
  readonly message: string;
}

/** More about an error, for programs. The RPC protocols send it as details of google.rpc; REST sends the message alone. */
export interface RegistryErrorDetails {
  /** For "invalid": the path of the wrong field of the request, such as `choiceArguments.transfer.sender`. */
  readonly field?: string;
  /** What is wrong with the field; the whole message by default. */
  readonly problem?: string;
  /**
   * A constant name of the cause, at most 63 characters: letters, digits and hyphens, such as `rule-missing`. RPC errors
   * have it in UPPER_SNAKE_CASE, which is accepted too. By default a general one of the reason.
   */
  readonly code?: string;
  /** What the cause is about. */
  readonly about?: CauseFields | undefined;
  /** All causes, at least one; by default the one that the other fields describe. */
  readonly causes?: readonly Cause[];
  /** Values that belong to the cause. Names consist of at most 64 letters, digits, "-" and "_". Never secret. */
  readonly metadata?: Readonly<Record<string, string>>;
}

/** The codes of errors that have none of their own. */
const generalCodes: Readonly<Record<RegistryErrorReason, CauseCode>> = {
  invalid: "invalid-argument",
  "not-found": "not-found",
  conflict: "conflict",
  unavailable: "not-ready",
  unsupported: "unsupported",
};

/** `instanceof` has to hold across copies of this class: a registry module may bundle its own. */
const BRAND = Symbol.for("offledger.RegistryError");

/** A query that fails. The message is for the caller and names what is wrong. */
export class RegistryError extends Error {
  readonly [BRAND] = true;

  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === "object" && value !== null && BRAND in value;
  }

  constructor(
    readonly reason: RegistryErrorReason,
    message: string,
    readonly details: RegistryErrorDetails = {},
  ) {
    super(message);
    this.name = "RegistryError";
  }
}

/** A refusal for a cause of the table, with its reason. `about` has the fields that the table names. */
export const refuse = (code: CauseCode, message: string, about?: CauseFields): RegistryError =>
  new RegistryError(table[code].reason as RegistryErrorReason, message, { code, about });

/** All causes of an error, at least one. */
export function causesOf({ reason, message, details }: RegistryError): readonly Cause[] {
  const { causes, code = "", about, field } = details;
  if (causes !== undefined && causes.length > 0) return causes;
  return [{ ...about, field, code: isCode(code) ? normalizeCode(code) : generalCodes[reason], message }];
}

/** A module may be plain JavaScript. */
const isCode = (code: unknown): code is string =>
  typeof code === "string" && /^[A-Za-z][A-Za-z0-9_-]{1,62}$/.test(code);

const normalizeCode = (code: string): string => code.toLowerCase().replaceAll("_", "-");

/**
 * One error for several causes: with the reason of the first, and a message that names all of them. Those that say the
 * same count once.
 */
export function combineErrors(first: RegistryError, others: readonly RegistryError[]): RegistryError {
  if (others.length === 0) return first;
  const causes = new Map<string, Cause>();
  for (const error of [first, ...others])
    for (const cause of causesOf(error)) causes.set(cause.message, causes.get(cause.message) ?? cause);
  if (causes.size === 1) return first;
  return new RegistryError(first.reason, describeCauses([...causes.values()]), {
    ...first.details,
    causes: [...causes.values()],
  });
}

/** Takes all steps. If any fail with RegistryError, throws one error for all that do. */
export function attemptAll(steps: Iterable<() => void>): void {
  const failures: RegistryError[] = [];
  for (const step of steps) {
    try {
      step();
    } catch (error) {
      if (!(error instanceof RegistryError)) throw error;
      failures.push(error);
    }
  }
  const [first, ...others] = failures;
  if (first !== undefined) throw combineErrors(first, others);
}

/** A settlement may lack hundreds of credentials. */
const MAX_NAMED_CAUSES = 20;

function describeCauses(causes: readonly Cause[]): string {
  const named = causes.slice(0, MAX_NAMED_CAUSES).map(({ message }) => message);
  const more = causes.length - named.length;
  return [...named, ...(more > 0 ? [`and ${more} more`] : [])].join("; ");
}

/** Formats an outside value for a message: a scalar as JSON, at most 80 characters; a list or object by its type. */
export function formatValue(value: object | string | number | boolean | null): string {
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "an object";
  const text = JSON.stringify(value);
  // Cutting a surrogate pair in half would give a string that gRPC cannot send.
  return text.length > 80 ? `${text.slice(0, 80).toWellFormed()}…` : text;
}

const failing =
  (reason: RegistryErrorReason) =>
  (message: string, details?: RegistryErrorDetails): RegistryError =>
    new RegistryError(reason, message, details);

export const invalid = failing("invalid");
export const notFound = failing("not-found");
export const conflict = failing("conflict");
export const unavailable = failing("unavailable");
export const unsupported = failing("unsupported");
/** The error "invalid" about one field. `problem` completes the sentence that begins with its path: "is empty". */
export const invalidField = (field: string, problem: string): RegistryError =>
  invalid(`${field} ${problem}`, { field, problem });

/** The RegistryError that it throws; undefined if it throws none. */
export function errorIn(attempt: () => unknown): RegistryError | undefined {
  try {
    attempt();
    return undefined;
  } catch (error) {
    if (error instanceof RegistryError) return error;
    throw error;
  }
}
