import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { JsonValue } from "../../domain/json.js";
import { errorMessage } from "../../util/logger.js";
import { abortAfter } from "../../util/async.js";
import { displayUrl } from "../../util/urls.js";
import { parseJson } from "../json-fields.js";
import { connectionError, LedgerError, responseError } from "./errors.js";
import type { TokenSource } from "./tokens.js";

export interface Endpoint {
  /** Base URL of the JSON Ledger API; http or https. */
  readonly url: URL;
  /** Root certificates in PEM; undefined for those that Node.js trusts. */
  readonly ca: string | undefined;
  readonly token: TokenSource;
  readonly signal: AbortSignal;
  readonly timeouts?: Partial<Timeouts>;
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
  const token = await readToken(endpoint);
  const url = endpointUrl(endpoint, path);
  const { status, text } = await sendRequest(url, {
    method,
    ca: endpoint.ca,
    signal: endpoint.signal,
    timeout: endpoint.timeouts?.answer ?? DEFAULT_TIMEOUTS.answer,
    headers: {
      accept: "application/json",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const value = parseJson(text);
  const isSuccess = status >= 200 && status < 300;
  if (isSuccess && value !== undefined) return value;
  if (isSuccess) throw new LedgerError("unreadable", `the participant's answer to ${path} is not JSON`);
  throw forgetDeniedToken(endpoint, responseError(value, status, displayUrl(url)));
}

/** The token to send. Throws "denied" if it is not valid in a header and in the name of a subprotocol. */
export async function readToken({ token: source }: Endpoint): Promise<string | undefined> {
  const token = await source();
  if (token === undefined || /^[\w!#$%&'*+.^`|~-]+$/.test(token)) return token;
  throw new LedgerError("denied", "the token for the participant has invalid characters");
}

/** Returns the error. Drops the cached token if the participant has denied it. */
export function forgetDeniedToken(endpoint: Endpoint, error: LedgerError): LedgerError {
  if (error.kind === "denied") endpoint.token.forget?.();
  return error;
}

/** The URL of a path below the base, which may end in a slash. */
export function endpointUrl({ url }: Pick<Endpoint, "url">, path: string): URL {
  return new URL(url.pathname.replace(/\/$/, "") + path, url);
}

export interface HttpRequest {
  readonly method: "GET" | "POST";
  readonly ca: string | undefined;
  readonly signal: AbortSignal;
  readonly timeout: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

export interface HttpResponse {
  readonly status: number;
  readonly text: string;
}

/** Sends one request and returns the whole response as text. Throws LedgerError "lost". */
export function sendRequest(url: URL, request: HttpRequest): Promise<HttpResponse> {
  return abortAfter(request.timeout, request.signal, (signal) => receiveText(url, request, signal));
}

function receiveText(url: URL, { method, ca, headers, body }: HttpRequest, signal: AbortSignal): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    // An abort is reported by its reason: the request's own error says only that it was aborted.
    const fail = (error: Error) => {
      const message = `${url.origin} cannot be reached`;
      reject(
        signal.aborted
          ? new LedgerError("lost", `${message}: ${errorMessage(signal.reason)}`)
          : connectionError(error, message),
      );
    };
    const options = { method, headers, signal };
    const request = url.protocol === "https:" ? requestHttps(url, { ...options, ca }) : requestHttp(url, options);
    request.on("error", fail);
    request.on("response", (response) => {
      const chunks: Buffer[] = [];
      let length = 0;
      response.on("data", (chunk: Buffer) => {
        length += chunk.length;
        if (length > MAX_RESPONSE_BYTES) request.destroy(new Error(`the response exceeds ${MAX_RESPONSE_BYTES} bytes`));
        else chunks.push(chunk);
      });
      response.on("error", fail);
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
    });
    request.end(body);
  });
}
