import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { JsonValue } from "../../store/store.js";
import { errorFrom, LedgerError } from "./errors.js";

/** Where a participant is, and how to speak to it. */
export interface Endpoint {
  /** Base of its JSON Ledger API; http or https. */
  readonly url: URL;
  /** Certificates of an own authority, PEM; undefined for those that Node.js trusts. */
  readonly ca: string | undefined;
  /** The token to send now; undefined where none is needed. */
  readonly token: () => Promise<string | undefined>;
  /** Aborted when nothing more is wanted of the participant. */
  readonly signal: AbortSignal;
}

/** Longest wait for an answer, and largest answer: every call used here has a small one. */
const TIMEOUT_MS = 10_000;
const MAX_BYTES = 8 * 1024 * 1024;

/** Calls the participant. Throws LedgerError, whatever fails. */
export async function call(
  endpoint: Endpoint,
  method: "GET" | "POST",
  path: string,
  body?: JsonValue,
): Promise<JsonValue> {
  const token = await endpoint.token();
  const { status, text } = await exchange(urlOf(endpoint, path), {
    method,
    ca: endpoint.ca,
    signal: endpoint.signal,
    headers: {
      accept: "application/json",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const value = parse(text);
  if (status >= 200 && status < 300 && value !== undefined) return value;
  throw errorFrom(value, status) ?? new LedgerError("unreadable", `the participant's answer to ${path} is not JSON`);
}

/** A path below the base, whether or not the base ends in a slash. */
export function urlOf({ url }: Pick<Endpoint, "url">, path: string): URL {
  return new URL(url.pathname.replace(/\/$/, "") + path, url);
}

export interface Exchange {
  readonly method: "GET" | "POST";
  readonly ca: string | undefined;
  readonly signal: AbortSignal;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** One request and its whole answer as text. Throws LedgerError "lost". */
export function exchange(
  url: URL,
  { method, ca, signal, headers, body }: Exchange,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const lost = (reason: string) => reject(new LedgerError("lost", `${url.origin} cannot be reached: ${reason}`));
    const options = {
      method,
      headers,
      timeout: TIMEOUT_MS,
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    };
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
