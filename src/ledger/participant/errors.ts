import type { JsonValue } from "../../domain/json.js";

/** What an error of the participant means for the mirror. */
export type LedgerErrorKind =
  /** Our offset is older than what the participant keeps. */
  | "pruned"
  /** Our offset is beyond the participant's end: it was restored from a backup. */
  | "ahead"
  /** The participant does not accept who we are. */
  | "denied"
  /** It has too much to do, or is not ready. */
  | "busy"
  /** The connection ended, or never began. */
  | "lost"
  /** It sent what cannot be understood. */
  | "unreadable"
  /** It refuses the request itself. */
  | "refused";

/** The participant, or the way to it, failed. Messages never carry a token. */
export class LedgerError extends Error {
  readonly kind: LedgerErrorKind;
  /** The participant's own name of the error, for example PARTICIPANT_PRUNED_DATA_ACCESSED; undefined where it gave none. */
  readonly code: string | undefined;

  constructor(kind: LedgerErrorKind, message: string, code?: string) {
    super(message);
    this.name = "LedgerError";
    this.kind = kind;
    this.code = code;
  }
}

const codes: ReadonlyMap<string | undefined, LedgerErrorKind> = new Map([
  ["PARTICIPANT_PRUNED_DATA_ACCESSED", "pruned"],
  ["OFFSET_AFTER_LEDGER_END", "ahead"],
  ["PARTICIPANT_DATA_ACCESSED_AFTER_LEDGER_END", "ahead"],
  // A stream is cut with these when its token has ended, or the user's rights have changed.
  ["ACCESS_TOKEN_EXPIRED", "denied"],
  ["STALE_STREAM_AUTHORIZATION", "denied"],
]);

/** By HTTP status, and by the gRPC code that stands in an error in place of one. */
const statuses: Readonly<Record<number, LedgerErrorKind>> = {
  401: "denied",
  403: "denied",
  429: "busy",
  500: "busy",
  502: "busy",
  503: "busy",
  504: "busy",
};
const grpcCodes: Readonly<Record<number, LedgerErrorKind>> = { 7: "denied", 8: "busy", 14: "busy", 16: "denied" };

/** The error that a response tells by its status and its body; undefined for a body that is not JSON. */
export function responseError(body: JsonValue | undefined, status: number): LedgerError {
  const { code, cause, grpcCode } = fieldsOf(body);
  const kind = codes.get(code) ?? statuses[status] ?? grpcCodes[grpcCode] ?? "refused";
  return new LedgerError(kind, `the participant answered status ${status}, ${code ?? "no code"}: ${cause}`, code);
}

/** The error that a message of a stream tells; undefined where it tells none. */
export function messageError(message: JsonValue): LedgerError | undefined {
  const { code, cause, grpcCode, isError } = fieldsOf(message);
  if (!isError) return undefined;
  const kind = codes.get(code) ?? grpcCodes[grpcCode] ?? "refused";
  return new LedgerError(kind, `the participant answered ${code ?? "no code"}: ${cause}`, code);
}

function fieldsOf(value: JsonValue | undefined) {
  const told = typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
  const code = typeof told.code === "string" ? told.code : undefined;
  return {
    code,
    cause: typeof told.cause === "string" ? told.cause.slice(0, 300) : "no cause given",
    grpcCode: typeof told.grpcCodeValue === "number" ? told.grpcCodeValue : -1,
    isError: code !== undefined && "cause" in told,
  };
}
