import type { JsonValue } from "../../domain/json.js";

/** What a failure of the participant means for the mirror. */
export type LedgerErrorKind =
  /** The participant has pruned the updates after our offset. */
  | "pruned"
  /** Our offset is past the participant's end: it was restored from a backup. */
  | "ahead"
  /** The participant or the issuer rejects our credentials or rights. */
  | "denied"
  /** It is overloaded or not ready. */
  | "busy"
  /** The connection was cut, or could not be opened. */
  | "lost"
  /** A message is malformed. */
  | "unreadable"
  /** It does not have a package or template that a request names. */
  | "incomplete"
  /** It rejects the request itself. */
  | "refused";

/** A failed call of the participant or the issuer. The message never holds a token. */
export class LedgerError extends Error {
  readonly kind: LedgerErrorKind;
  /** The participant's error code, for example PARTICIPANT_PRUNED_DATA_ACCESSED; undefined if it sent none. */
  readonly code: string | undefined;
  /** For "incomplete": what the participant does not have, as `package` or `package:Module:Entity`. */
  readonly missing: readonly string[];

  constructor(kind: LedgerErrorKind, message: string, code?: string, missing: readonly string[] = []) {
    super(message);
    this.name = "LedgerError";
    this.kind = kind;
    this.code = code;
    this.missing = missing;
  }
}

const kindByCode: ReadonlyMap<string | undefined, LedgerErrorKind> = new Map([
  ["PARTICIPANT_PRUNED_DATA_ACCESSED", "pruned"],
  ["OFFSET_AFTER_LEDGER_END", "ahead"],
  ["PARTICIPANT_DATA_ACCESSED_AFTER_LEDGER_END", "ahead"],
  // These end a stream whose token has expired, or whose user has new rights.
  ["ACCESS_TOKEN_EXPIRED", "denied"],
  ["STALE_STREAM_AUTHORIZATION", "denied"],
  ["PACKAGE_NAMES_NOT_FOUND", "incomplete"],
  ["NO_TEMPLATES_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME", "incomplete"],
]);

const kindByStatus: Readonly<Record<number, LedgerErrorKind>> = {
  401: "denied",
  403: "denied",
  429: "busy",
  500: "busy",
  502: "busy",
  503: "busy",
  504: "busy",
};
const kindByGrpcCode: Readonly<Record<number, LedgerErrorKind>> = { 7: "denied", 8: "busy", 14: "busy", 16: "denied" };

const MAX_CAUSE_LENGTH = 300;

/** The error of an HTTP response. `body` is undefined if it is not JSON. */
export function responseError(body: JsonValue | undefined, status: number): LedgerError {
  const { code, cause, grpcCode, missing } = readError(body);
  const kind = kindByCode.get(code) ?? kindByStatus[status] ?? kindByGrpcCode[grpcCode] ?? "refused";
  const message = `the participant answered status ${status}, ${code ?? "no code"}: ${cause}`;
  return new LedgerError(kind, message, code, missing);
}

/** The error in a message of a stream; undefined if the message is not an error. */
export function messageError(message: JsonValue): LedgerError | undefined {
  const { code, cause, grpcCode, missing, isError } = readError(message);
  if (!isError) return undefined;
  const kind = kindByCode.get(code) ?? kindByGrpcCode[grpcCode] ?? "refused";
  return new LedgerError(kind, `the participant answered ${code ?? "no code"}: ${cause}`, code, missing);
}

function readError(value: JsonValue | undefined) {
  const fields = typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
  const code = typeof fields.code === "string" ? fields.code : undefined;
  const cause = typeof fields.cause === "string" ? fields.cause : "no cause given";
  return {
    code,
    cause: cause.slice(0, MAX_CAUSE_LENGTH),
    missing: kindByCode.get(code) === "incomplete" ? missingNames(cause) : [],
    grpcCode: typeof fields.grpcCodeValue === "number" ? fields.grpcCodeValue : -1,
    isError: code !== undefined && "cause" in fields,
  };
}

/** Reads the list in a cause: package names, as in `[a, b]`, or pairs of package and template, as in `[(a,M:E)]`. */
function missingNames(cause: string): string[] {
  const [, list = ""] = /\[(.*)\]/.exec(cause) ?? [];
  const pairs = [...list.matchAll(/\(([^(),]+),([^()]+)\)/g)].map(([, name, template]) => `${name}:${template}`);
  return pairs.length > 0 ? pairs : list.split(",").flatMap((name) => name.trim() || []);
}
