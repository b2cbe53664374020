/** Classifies database failures by what can be done about them. No other module knows SQLSTATEs. */
import { StoreUnavailable } from "../port.js";

export type DatabaseErrorKind =
  /** Unreachable, starting, stopping or too slow: it may recover by itself. */
  | "unavailable"
  /** The login or an operation is refused: an operator has to act. */
  | "denied"
  /** The schema is missing or belongs to another version. */
  | "schema"
  /** The schema is of an earlier release: `offledger migrate` mends it. */
  | "unmigrated"
  /** Another process has the lease. */
  | "lost"
  /** Anything else: a bug in this program. */
  | "defect";

/** What helps at once: to wait for a connection that others release, or to send a query again on another one. */
type Recovery = "wait" | "repeat";

/** A database failure. The message is for the operator and holds no SQL and no values. */
export class DatabaseError extends Error {
  override readonly name = "DatabaseError";

  constructor(
    readonly kind: DatabaseErrorKind,
    message: string,
    readonly recovery?: Recovery,
  ) {
    super(message);
  }
}

const recoveries: Readonly<Record<string, Recovery>> = {
  // As many connections as the server, the database or the role may have.
  "53300": "wait",
  // Ended by an operator, or because the server stops or has crashed.
  "57P01": "repeat",
  "57P02": "repeat",
};
/** Of the driver and of the system, for a connection that was open. */
const LOST_CONNECTION = /^(?:Connection terminated(?: unexpectedly)?$|Client has encountered a connection error)/;
const LOST_CODES: ReadonlySet<string> = new Set(["ECONNRESET", "EPIPE"]);

/** By SQLSTATE or its class; https://www.postgresql.org/docs/current/errcodes-appendix.html lists them. */
const kindBySqlState: Readonly<Record<string, DatabaseErrorKind>> = {
  "08": "unavailable",
  "53": "unavailable",
  "57": "unavailable",
  "58": "unavailable",
  "25P03": "unavailable",
  "25P04": "unavailable",
  "25006": "unavailable",
  "40": "unavailable",
  "55P03": "unavailable",
  "28": "denied",
  "3D": "denied",
  "42501": "denied",
  "42P01": "schema",
  "42703": "schema",
  "3F": "schema",
};

const SQLSTATE = /^[0-9A-Z]{5}$/;

/** Converts anything that a query throws. */
export function asDatabaseError(error: unknown): DatabaseError {
  if (error instanceof DatabaseError) return error;
  if (!(error instanceof Error)) return new DatabaseError("defect", String(error));
  const code = "code" in error ? String(error.code) : "";
  // Errors of the driver and of the system have no SQLSTATE; system codes such as EPIPE look like one.
  if (!SQLSTATE.test(code) || code.startsWith("E")) return asConnectionError(error, code);
  const kind = kindBySqlState[code] ?? kindBySqlState[code.slice(0, 2)] ?? "defect";
  return new DatabaseError(kind, `database error: ${error.message} (SQLSTATE ${code})`, recoveries[code]);
}

function asConnectionError(error: Error, code: string): DatabaseError {
  if ("path" in error)
    return new DatabaseError("denied", `cannot read a file of the connection to the database: ${error.message}`);
  if (/CERT|VERIFY/.test(code)) {
    return new DatabaseError("denied", `the certificate of the database was rejected: ${error.message} (${code})`);
  }
  if (error.message.startsWith("SASL:")) {
    const reason = "the database requires a password, and the given one is missing or unusable";
    return new DatabaseError("denied", `${reason}: ${error.message}`);
  }
  const reason = error.message === "" ? code : error.message;
  const recovery = LOST_CODES.has(code) || LOST_CONNECTION.test(reason) ? "repeat" : undefined;
  return new DatabaseError("unavailable", `the database cannot be reached: ${reason}`, recovery);
}

/** What a query returns. For callers it throws StoreUnavailable, without details; its cause is the DatabaseError. */
export async function orUnavailable<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    const message = "the required contracts cannot be read at the moment; try again later";
    throw new StoreUnavailable(message, { cause: asDatabaseError(error) });
  }
}
