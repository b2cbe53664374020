/** What goes wrong with a database, by what can be done about it. The only place that knows SQLSTATEs. */
import { StoreUnavailable } from "../port.js";

export type DatabaseErrorKind =
  /** It cannot be reached, is starting or stopping, or takes too long: it may come back by itself. */
  | "away"
  /** It does not let us in, or does not let us do what we have to: somebody has to change something. */
  | "denied"
  /** The schema is not there, or not the one that this program was made for. */
  | "schema"
  /** Another process has the lease. */
  | "lost"
  /** Anything else: a defect of ours. */
  | "defect";

/** A failure of the database. The message is for the operator, and holds no SQL and no values. */
export class DatabaseError extends Error {
  readonly kind: DatabaseErrorKind;

  constructor(kind: DatabaseErrorKind, message: string) {
    super(message);
    this.name = "DatabaseError";
    this.kind = kind;
  }
}

/** By SQLSTATE or its class; https://www.postgresql.org/docs/current/errcodes-appendix.html lists them. */
const troubles: Readonly<Record<string, DatabaseErrorKind>> = {
  "08": "away",
  "53": "away",
  "57": "away",
  "58": "away",
  "25P03": "away",
  "25P04": "away",
  "25006": "away",
  "40": "away",
  "55P03": "away",
  "28": "denied",
  "3D": "denied",
  "42501": "denied",
  "42P01": "schema",
  "42703": "schema",
  "3F": "schema",
};

const SQLSTATE = /^[0-9A-Z]{5}$/;

/** Makes one of whatever a query has thrown. */
export function asDatabaseError(error: unknown): DatabaseError {
  if (error instanceof DatabaseError) return error;
  if (!(error instanceof Error)) return new DatabaseError("defect", String(error));
  const code = "code" in error ? String(error.code) : "";
  if (!SQLSTATE.test(code) || code.startsWith("E")) {
    // What the driver and the system say of a connection has no SQLSTATE.
    if ("path" in error)
      return new DatabaseError("denied", `a file that its URL names cannot be read: ${error.message}`);
    if (/CERT|VERIFY/.test(code)) {
      return new DatabaseError("denied", `the certificate of the database is not accepted: ${error.message} (${code})`);
    }
    if (error.message.startsWith("SASL:")) {
      const wants = "the database wants a password, and none that fits is given";
      return new DatabaseError("denied", `${wants}: ${error.message}`);
    }
    const reason = error.message === "" ? code : error.message;
    return new DatabaseError("away", `the database cannot be reached: ${reason}`);
  }
  const kind = troubles[code] ?? troubles[code.slice(0, 2)] ?? "defect";
  return new DatabaseError(kind, `the database says: ${error.message} (SQLSTATE ${code})`);
}

/** What a caller is told of it. */
export const toUnavailable = (_error: DatabaseError): StoreUnavailable =>
  new StoreUnavailable("the contracts that this needs cannot be read now; ask again");
