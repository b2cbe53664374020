import type { JsonValue } from "../../util/json.js";
import { errorMessage } from "../../util/logger.js";
import { abortAfter } from "../../util/async.js";
import {
  byWayOf,
  type HttpRequest,
  type HttpResponse,
  retryAfterMs,
  sendRequest as send,
  unreadableAnswer,
} from "../../util/outgoing.js";
import { parseJson } from "../json-fields.js";
import { connectionError, LedgerError, type LedgerErrorKind, responseError } from "./errors.js";
import type { TokenSource } from "./tokens.js";

export interface Endpoint {
  /** Base URL of the JSON Ledger API; http or https. */
  readonly url: URL;
  /** Root certificates in PEM; undefined for those that Node.js trusts. */
  readonly ca: string | undefined;
  readonly token: TokenSource;
  readonly signal: AbortSignal;
  readonly timeouts?: Partial<Timeouts>;
  /** Shared by all endpoints of one participant. Without it no call waits for what the answer to another asked for. */
  readonly pace?: Pace;
}

/** In milliseconds. */
export interface Timeouts {
  readonly answer: number;
  readonly open: number;
  /** Between pings on a stream. The stream fails if a ping is not answered before the next. */
  readonly ping: number;
  /** For the next message of a finite stream. */
  readonly message: number;
}

/** `message` is long because a participant needs time before the first message of a large snapshot. */
export const DEFAULT_TIMEOUTS: Timeouts = { answer: 10_000, open: 10_000, ping: 10_000, message: 60_000 };

/** Every call used here has a small response. */
const MAX_RESPONSE_BYTES = 8 * 1024 * 1024;

/** Calls the participant and returns the JSON body. Every failure is a LedgerError. */
export async function callParticipant(
  endpoint: Endpoint,
  method: "GET" | "POST",
  path: string,
  body?: JsonValue,
): Promise<JsonValue> {
  endpoint.pace?.check();
  const token = await readToken(endpoint);
  const response = await requestOnce(endpoint, token, method, path, body);
  const url = endpointUrl(endpoint, path);
  const value = parseJson(response.text);
  const isSuccess = response.status >= 200 && response.status < 300;
  if (isSuccess && value !== undefined) return value;
  if (isSuccess) {
    throw new LedgerError("unreadable", `the participant's answer to ${path} ${unreadableAnswer(response, url)}`);
  }
  throw forgetDeniedToken(endpoint, token, failedAnswer(endpoint, url, response, value));
}

/** One request, and its answer whatever it is. Throws as `sendRequest`. */
export function requestOnce(
  endpoint: Endpoint,
  token: string | undefined,
  method: "GET" | "POST",
  path: string,
  body?: JsonValue,
  timeout = DEFAULT_TIMEOUTS.answer,
): Promise<HttpResponse> {
  const { ca, signal, timeouts } = endpoint;
  return sendRequest(endpointUrl(endpoint, path), {
    method,
    ca,
    signal,
    timeout: timeouts?.answer ?? timeout,
    headers: {
      accept: "application/json",
      ...(body !== undefined && { "content-type": "application/json" }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
}

/** The error of an answer that is no success. Others wait as long as it asks for. */
export function failedAnswer(endpoint: Endpoint, url: URL, response: HttpResponse, value = parseJson(response.text)) {
  const error = responseError(value, response.status, url, response);
  if (retryAfterMs(response.headers) !== undefined) endpoint.pace?.hold(error);
  return error;
}

/** The token to send. Throws "denied" if it is not valid in a header and in the name of a subprotocol. */
export async function readToken({ token: source }: Endpoint): Promise<string | undefined> {
  const token = await source();
  if (token === undefined || /^[\w!#$%&'*+.^`|~-]+$/.test(token)) return token;
  throw new LedgerError("denied", "the token for the participant has invalid characters");
}

/** Returns the error. Drops the token that was sent from the cache if the participant has denied it. */
export function forgetDeniedToken(endpoint: Endpoint, token: string | undefined, error: LedgerError): LedgerError {
  if (error.kind === "denied" && token !== undefined) endpoint.token.forget?.(token);
  return error;
}

/** The URL of a path below the base, which may end in a slash. */
export function endpointUrl({ url }: Pick<Endpoint, "url">, path: string): URL {
  return new URL(url.pathname.replace(/\/$/, "") + path, url);
}

type Request = Omit<HttpRequest, "maxBytes"> & {
  /** In milliseconds. */
  readonly timeout: number;
};

/** Sends one request and returns the whole response as text. Throws LedgerError "lost", or "refused" by another protocol. */
export function sendRequest(url: URL, request: Request): Promise<HttpResponse> {
  return abortAfter(request.timeout, request.signal, async (signal) => {
    try {
      return await send(url, { ...request, maxBytes: MAX_RESPONSE_BYTES, signal });
    } catch (error) {
      const message = `${url.origin} cannot be reached${byWayOf(url)}`;
      // An abort is reported by its reason: the request's own error says only that it was aborted.
      throw signal.aborted
        ? new LedgerError("lost", `${message}: ${errorMessage(signal.reason)}`)
        : connectionError(error, message);
    }
  });
}

/** Keeps calls from a server that has said, by Retry-After, when it wants to be asked again. */
export class Pace {
  #held: LedgerError | undefined;
  /** Of performance.now. */
  #until = 0;

  /** `error` says in how many milliseconds. */
  hold(error: LedgerError): void {
    this.#held = error;
    this.#until = performance.now() + (error.details.retryMs ?? 0);
  }

  /** Throws the error until its time has passed, with the milliseconds that are left. */
  check(): void {
    const retryMs = this.#until - performance.now();
    if (this.#held === undefined || retryMs <= EARLY_MS) return;
    const { kind, message, code, details } = this.#held;
    if (OF_ALL_CALLS.has(kind)) throw new LedgerError(kind, message, code, { ...details, retryMs });
    // Such as that a contract is not known: of another one that says nothing.
    throw new LedgerError("busy", message, undefined, { retryMs });
  }
}

/** What a failure says of whatever is asked. Others answer a question. */
const OF_ALL_CALLS: ReadonlySet<LedgerErrorKind> = new Set(["busy", "denied", "internal", "lost"]);

/** A timer may end a little before its time. */
const EARLY_MS = 10;
