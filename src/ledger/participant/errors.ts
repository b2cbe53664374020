import type { JsonValue } from "../../util/json.js";
import { errorMessage } from "../../util/logger.js";
import { foreignAnswer, type HttpResponse, retryAfterMs } from "../../util/outgoing.js";
import { fieldsOf } from "../json-fields.js";
import { displayUrl } from "../../util/urls.js";

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
  /** It reports an internal error. That may pass, and an operator should know. */
  | "internal"
  /** The connection was cut, or could not be opened. */
  | "lost"
  /** A message is malformed. */
  | "unreadable"
  /** It does not have a package, template or interface that a request names. */
  | "incomplete"
  /** It cannot compute a view with the package that it has chosen for a stream; see ViewFailure. */
  | "unvetted"
  /** There are no parties to read as. */
  | "no-parties"
  /** The token's user has lost the right to read as a party. */
  | "withdrawn"
  /** It rejects the request itself. */
  | "refused";

export interface LedgerErrorDetails {
  /** For "incomplete": what the participant does not have, as `package` or `package:Module:Entity`. */
  readonly missing?: readonly string[];
  /** For "denied": the credentials are accepted, and lack a right. */
  readonly isForbidden?: boolean;
  /** After how many milliseconds the participant wants to be asked again. */
  readonly retryMs?: number | undefined;
  /** Of an HTTP response. */
  readonly status?: number | undefined;
}

/** A failed call of the participant or the issuer. The message never holds a token. */
export class LedgerError extends Error {
  override readonly name = "LedgerError";

  /** `code`: the participant's, for example PARTICIPANT_PRUNED_DATA_ACCESSED; undefined if it sent none. */
  constructor(
    readonly kind: LedgerErrorKind,
    message: string,
    readonly code?: string,
    readonly details: LedgerErrorDetails = {},
  ) {
    super(message);
  }
}

/** Reads what the participant has answered. What is wrong with its form is "unreadable", after `what` of it. */
export function readable<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new LedgerError("unreadable", `${what}: ${errorMessage(error)}`);
  }
}

/** An error of the JSON Ledger API. Numbers are -1 where it has none. */
export interface ApiError {
  /** Undefined if the message is no error of the API. */
  readonly code: string | undefined;
  readonly cause: string | undefined;
  readonly category: number;
  readonly grpcCode: number;
  readonly retryMs: number | undefined;
}

type Judgement = LedgerErrorKind | "forbidden";

/** Codes that mean more than their category says. */
const byCode: ReadonlyMap<string | undefined, Judgement> = new Map([
  ["PARTICIPANT_PRUNED_DATA_ACCESSED", "pruned"],
  ["OFFSET_AFTER_LEDGER_END", "ahead"],
  ["PARTICIPANT_DATA_ACCESSED_AFTER_LEDGER_END", "ahead"],
  // These end a stream whose token has expired, or whose user has new rights.
  ["ACCESS_TOKEN_EXPIRED", "denied"],
  ["STALE_STREAM_AUTHORIZATION", "denied"],
  ["PACKAGE_NAMES_NOT_FOUND", "incomplete"],
  ["NO_TEMPLATES_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME", "incomplete"],
  ["NO_INTERFACE_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME", "incomplete"],
  // It has the category of contention, and never passes.
  ["JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED", "refused"],
]);

/** Categories of Canton. From 8 on they reject the request. */
const byCategory: Readonly<Record<number, Judgement>> = {
  1: "busy",
  2: "busy",
  3: "busy",
  4: "internal",
  6: "denied",
  7: "forbidden",
};
const FIRST_REJECTING_CATEGORY = 8;

/** For errors that hide their category. */
const byGrpcCode: Readonly<Record<number, Judgement>> = {
  1: "busy",
  4: "busy",
  7: "forbidden",
  8: "busy",
  10: "busy",
  13: "busy",
  14: "busy",
  16: "denied",
};
const byStatus: Readonly<Record<number, Judgement>> = {
  401: "denied",
  403: "forbidden",
  408: "busy",
  409: "busy",
  429: "busy",
};

const MAX_CAUSE_LENGTH = 300;
const MAX_RETRY_MS = 60_000;

/** The status is undefined for a message of a stream. */
export function judge({ code, category, grpcCode }: ApiError, status?: number): Judgement {
  return (
    byCode.get(code) ??
    byCategory[category] ??
    (category >= FIRST_REJECTING_CATEGORY ? "refused" : undefined) ??
    byGrpcCode[grpcCode] ??
    byStatus[status ?? 0] ??
    ((status ?? 0) >= 500 ? "busy" : "refused")
  );
}

/** The error of an HTTP response. `body` is undefined if it is not JSON. */
export function responseError(
  body: JsonValue | undefined,
  status: number,
  url?: URL,
  response?: HttpResponse,
): LedgerError {
  const error = readApiError(body);
  const retryMs = response && retryAfterMs(response.headers);
  const shown = url === undefined ? "its URL" : displayUrl(url);
  if (error.code !== undefined) return ledgerError(error, status, retryMs);
  if (status === 404 || status === 405) {
    const message = `there is no JSON Ledger API at ${shown} (status ${status}): check the path of OFFLEDGER_LEDGER_URL`;
    return judged("refused", message, undefined, { status, retryMs });
  }
  const foreign = response && url && foreignAnswer(response, url);
  if (foreign === undefined) return ledgerError(error, status, retryMs);
  const message = `${shown} answered status ${status}, ${foreign}: check OFFLEDGER_LEDGER_URL, and what is between this service and the participant`;
  return judged(judge(error, status), message, undefined, { retryMs, status });
}

function judged(judgement: Judgement, message: string, code: string | undefined, details: LedgerErrorDetails) {
  const isForbidden = judgement === "forbidden";
  return new LedgerError(isForbidden ? "denied" : judgement, message, code, { ...details, isForbidden });
}

/** The error of a connection. A port that does not speak HTTP/1.1 is another than that of the JSON Ledger API. */
export function connectionError(error: unknown, message: string): LedgerError {
  const reason = errorMessage(error);
  if (!(error instanceof Error && "code" in error && error.code === "HPE_INVALID_CONSTANT")) {
    return new LedgerError("lost", `${message}: ${reason}`);
  }
  const hint = "it does not speak HTTP/1.1: it may be the participant's gRPC port, not that of its JSON Ledger API";
  return new LedgerError("refused", `${message}: ${hint} (${reason})`);
}

/** The error in a message of a stream; undefined if the message is not an error. */
export function messageError(message: JsonValue): LedgerError | undefined {
  const error = readApiError(message);
  return error.code !== undefined && "cause" in fieldsOf(message) ? ledgerError(error) : undefined;
}

/** Reads an error of the JSON Ledger API, which may be anything else. */
export function readApiError(body: JsonValue | undefined): ApiError {
  const { code, cause, errorCategory, grpcCodeValue, retryInfo } = fieldsOf(body);
  return {
    code: typeof code === "string" ? code : undefined,
    cause: typeof cause === "string" ? cause : undefined,
    category: typeof errorCategory === "number" ? errorCategory : -1,
    grpcCode: typeof grpcCodeValue === "number" ? grpcCodeValue : -1,
    retryMs: typeof retryInfo === "string" ? retryMsOf(retryInfo) : undefined,
  };
}

/** `afterMs`: what Retry-After asks for. Of two waits the longer counts. */
function ledgerError(error: ApiError, status?: number, afterMs?: number): LedgerError {
  const { code, cause = "no cause given", retryMs = 0 } = error;
  const judgement = judge(error, status);
  const answer = [...(status === undefined ? [] : [`status ${status}`]), code ?? "no code"].join(", ");
  // Without a code, the token was not looked at when it expired on an open stream, but when it was sent.
  const hint = byCode.has(code) ? "" : (hints[judgement] ?? "");
  const wait = Math.max(judgement === "busy" ? retryMs : 0, afterMs ?? 0);
  return judged(judgement, `the participant answered ${answer}: ${cause.slice(0, MAX_CAUSE_LENGTH)}${hint}`, code, {
    missing: judgement === "incomplete" ? missingNames(cause) : [],
    retryMs: wait > 0 ? wait : undefined,
    status,
  });
}

/** The answer hides the reason. */
const hints: Partial<Record<Judgement, string>> = {
  denied:
    " (the token is missing, expired or not of a trusted issuer, or lives longer than the participant's maximum, " +
    "5 minutes unless configured: the participant's log says which)",
  forbidden:
    " (the user of the token lacks a right, or is unknown or deactivated: on the participant, grant it the right to read " +
    "as each of OFFLEDGER_LEDGER_PARTIES; the participant's log says which)",
};

const UNIT_MS: Readonly<Record<string, number>> = { millisecond: 1, second: 1_000, minute: 60_000 };

/** Reads a duration as Scala writes it, "1 second". One of another unit counts as absent. */
function retryMsOf(text: string): number | undefined {
  const [, count, unit = ""] = /^(\d{1,9}) (millisecond|second|minute)s?$/.exec(text) ?? [];
  const unitMs = UNIT_MS[unit];
  return unitMs === undefined ? undefined : Math.min(Number(count) * unitMs, MAX_RETRY_MS);
}

/** Reads the list in a cause: package names, as in `[a, b]`, or pairs of package and entity, as in `[(a,M:E)]`. */
function missingNames(cause: string): string[] {
  const [, list = ""] = /\[(.*)\]/.exec(cause) ?? [];
  const pairs = [...list.matchAll(/\(([^(),]+),([^()]+)\)/g)].map(([, name, template]) => `${name}:${template}`);
  return pairs.length > 0 ? pairs : list.split(",").flatMap((name) => name.trim() || []);
}
