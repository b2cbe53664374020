import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { JsonValue } from "../../domain/json.js";
import { LedgerError, responseError } from "./errors.js";
import type { TokenSource } from "./tokens.js";

/** Where a participant is, and how to speak to it. */
export interface Endpoint {
  /** Base of its JSON Ledger API; http or https. */
  readonly url: URL;
  /** Certificates of an own authority, PEM; undefined for those that Node.js trusts. */
  readonly ca: string | undefined;
  readonly token: TokenSource;
  /** Aborted when nothing more is wanted of the participant. */
  readonly signal: AbortSignal;
  /** How long to wait for the participant; `patience` where not said. */
  readonly timeouts?: Partial<Timeouts>;
}

/** Longest waits, in milliseconds. */
export interface Timeouts {
  /** For a whole answer over HTTP. */
  readonly answer: number;
  /** For a stream to open. */
  readonly open: number;
  /** Between pings on a stream; one that is not answered before the next ends it. */
  readonly ping: number;
  /** For the next message of a stream that has an end. */
  readonly message: number;
}

/** A snapshot of a large ledger takes a participant some time before its first message. */
export const DEFAULT_TIMEOUTS: Timeouts = { answer: 10_000, open: 10_000, ping: 10_000, message: 60_000 };

/** Largest answer: every call used here has a small one. */
const MAX_BYTES = 8 * 1024 * 1024;

/** Calls the participant. Throws LedgerError, whatever fails. */
export async function callParticipant(
  endpoint: Endpoint,
  method: "GET" | "POST",
  path: string,
  body?: JsonValue,
): Promise<JsonValue> {
  const token = await tokenOf(endpoint);
  const { status, text } = await sendRequest(urlOf(endpoint, path), {
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
  const value = parse(text);
  const isGood = status >= 200 && status < 300;
  if (isGood && value !== undefined) return value;
  if (isGood) throw new LedgerError("unreadable", `the participant's answer to ${path} is not JSON`);
  throw forgetDeniedToken(endpoint, responseError(value, status));
}

/** The token to send, which has to fit in a header and in the name of a subprotocol. Throws "denied" where it does not. */
export async function tokenOf({ token: source }: Endpoint): Promise<string | undefined> {
  const token = await source();
  if (token === undefined || /^[\w!#$%&'*+.^`|~-]+$/.test(token)) return token;
  throw new LedgerError("denied", "the token for the participant has characters that no token has");
}

/** The same error; a token that was not accepted is not kept. */
export function forgetDeniedToken(endpoint: Endpoint, error: LedgerError): LedgerError {
  if (error.kind === "denied") endpoint.token.forget?.();
  return error;
}

/** A path below the base, whether or not the base ends in a slash. */
export function urlOf({ url }: Pick<Endpoint, "url">, path: string): URL {
  return new URL(url.pathname.replace(/\/$/, "") + path, url);
}

export interface HttpRequest {
  readonly method: "GET" | "POST";
  readonly ca: string | undefined;
  readonly signal: AbortSignal;
  /** Longest wait for the whole answer, in milliseconds. */
  readonly timeout: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** One request and its whole answer as text. Throws LedgerError "lost". */
export function sendRequest(
  url: URL,
  { method, ca, signal, timeout, headers, body }: HttpRequest,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const lost = (reason: string) => reject(new LedgerError("lost", `${url.origin} cannot be reached: ${reason}`));
    const options = { method, headers, signal: AbortSignal.any([signal, AbortSignal.timeout(timeout)]) };
    const request = url.protocol === "https:" ? requestHttps(url, { ...options, ca }) : requestHttp(url, options);
    request.on("error", (error) => lost(error.message));
    request.on("response", (response) => {
      const chunks: Buffer[] = [];
      let length = 0;
      response.on("data", (chunk: Buffer) => {
        length += chunk.length;
        if (length > MAX_BYTES) request.destroy(new Error(`an answer is larger than ${MAX_BYTES} bytes`));
        else chunks.push(chunk);
      });
      response.on("error", (error) => lost(error.message));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
    });
    request.end(body);
  });
}

function parse(text: string): JsonValue | undefined {
  try {
    // JSON.parse gives nothing but JSON values.
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}
