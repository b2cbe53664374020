import type { JsonValue } from "../../store/store.js";

/** What an error of the participant means for the mirror. */
export type Trouble =
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
  readonly trouble: Trouble;
  /** The participant's own name of the error, for example PARTICIPANT_PRUNED_DATA_ACCESSED; undefined where it gave none. */
  readonly code: string | undefined;

  constructor(trouble: Trouble, message: string, code?: string) {
    super(message);
    this.name = "LedgerError";
    this.trouble = trouble;
    this.code = code;
  }
}

const codes: Readonly<Record<string, Trouble>> = {
  PARTICIPANT_PRUNED_DATA_ACCESSED: "pruned",
  OFFSET_AFTER_LEDGER_END: "ahead",
  PARTICIPANT_DATA_ACCESSED_AFTER_LEDGER_END: "ahead",
};

/** By HTTP status, and by the gRPC code that stands in an error in place of one. */
const statuses: Readonly<Record<number, Trouble>> = {
  401: "denied",
  403: "denied",
  429: "busy",
  502: "busy",
  503: "busy",
  504: "busy",
};
const grpcCodes: Readonly<Record<number, Trouble>> = { 7: "denied", 8: "busy", 14: "busy", 16: "denied" };

/**
 * The error that a participant sent, as the body of a response or as a message
 * of a stream; undefined where the value is none. `status` is that of the
 * response, undefined on a stream.
 */
export function errorFrom(value: JsonValue | undefined, status: number | undefined): LedgerError | undefined {
  const told = typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
  const code = typeof told.code === "string" ? told.code : undefined;
  if (status === undefined && (code === undefined || !("cause" in told))) return undefined;
  const grpcCode = typeof told.grpcCodeValue === "number" ? told.grpcCodeValue : -1;
  const trouble = codes[code ?? ""] ?? statuses[status ?? 0] ?? grpcCodes[grpcCode] ?? "refused";
  const cause = typeof told.cause === "string" ? told.cause.slice(0, 300) : "no cause given";
  const where = status === undefined ? "" : `status ${status}, `;
  return new LedgerError(trouble, `the participant answered ${where}${code ?? "no code"}: ${cause}`, code);
}
