/**
 * Tokens for the participant: none, from a file, or by the OAuth2 client credentials grant, RFC 6749 section 4.4. A library
 * (oauth4webapi) would leave bounds, certificates and errors to us, and rejects issuers behind a proxy with another host
 * name. Take it for further grants, private_key_jwt or mutual TLS.
 */
import { isObject, type JsonObject } from "../../util/json.js";
import { errorMessage } from "../../util/logger.js";
import { readTextFile } from "../../util/reloaded-files.js";
import { displayUrl } from "../../util/urls.js";
import { fieldsOf, parseJson } from "../json-fields.js";
import { LedgerError } from "./errors.js";
import { type HttpResponse, foreignAnswer, retryAfterMs, unreadableAnswer } from "../../util/outgoing.js";
import { DEFAULT_TIMEOUTS, Pace, sendRequest } from "./http.js";

/** Returns the token to send; undefined if none is needed. Throws LedgerError, whose message never holds a token. */
export interface TokenSource {
  (): Promise<string | undefined>;
  /** Drops a token if it is the cached one. Called when the participant has not accepted it. */
  readonly forget?: (denied: string) => void;
}

export const noToken: TokenSource = () => Promise.resolve(undefined);

export type LedgerCredentials = { readonly tokenFile: string } | ClientCredentials;

export function createTokenSource(
  credentials: LedgerCredentials | undefined,
  ca: string | undefined,
  signal: AbortSignal,
  clock: () => number,
): TokenSource {
  if (credentials === undefined) return noToken;
  if ("tokenFile" in credentials) return tokenFile(credentials.tokenFile);
  return clientCredentials(credentials, ca, signal, clock);
}

/** Reads a secret from a file, on every call: to renew it, replace the file. Throws LedgerError "denied". */
export function tokenFile(path: string): () => Promise<string> {
  return async () => {
    try {
      const token = (await readTextFile(path)).trim();
      if (token !== "") return token;
    } catch (error) {
      throw new LedgerError("denied", `the token file ${errorMessage(error)}`);
    }
    throw new LedgerError("denied", `the token file ${path} is empty`);
  };
}

export interface ClientCredentials {
  /** The token endpoint is found by OpenID Connect Discovery. */
  readonly issuer: URL;
  readonly clientId: string;
  readonly secretFile: string;
  readonly audience: string | undefined;
  /** Space-separated, RFC 6749 section 3.3. */
  readonly scope: string | undefined;
}

interface AccessToken {
  readonly token: string;
  /** In seconds. */
  readonly expiresIn: number;
}

/** A token is renewed in the last fifth of its lifetime, at least this many milliseconds before it expires. */
const RENEW_FRACTION = 0.2;
const MIN_RENEW_MS = 10_000;

/** RFC 6749 recommends expires_in and does not require it. In seconds. */
const DEFAULT_EXPIRES_IN = 60;

/**
 * Fetches tokens, caches each until shortly before it expires, and shares one request between concurrent callers. `clock`
 * is monotonic, in milliseconds: a lifetime counts from the request.
 */
export function clientCredentials(
  options: ClientCredentials,
  ca: string | undefined,
  signal: AbortSignal,
  clock: () => number,
): TokenSource {
  const readSecret = tokenFile(options.secretFile);
  let cached: { readonly token: string; readonly renewAt: number } | undefined;
  let pending: Promise<string> | undefined;
  const pace = new Pace();
  const renew = async (): Promise<string> => {
    pace.check();
    const requestedAt = clock();
    const { token, expiresIn } = await fetchToken(options, await readSecret(), ca, signal).catch((error: unknown) => {
      if (error instanceof LedgerError && error.details.retryMs !== undefined) pace.hold(error);
      throw error;
    });
    const lifetime = expiresIn * 1000;
    const margin = Math.min(Math.max(lifetime * RENEW_FRACTION, MIN_RENEW_MS), lifetime / 2);
    cached = { token, renewAt: requestedAt + lifetime - margin };
    return token;
  };
  const current = (): Promise<string> => {
    if (cached !== undefined && clock() < cached.renewAt) return Promise.resolve(cached.token);
    pending ??= renew().finally(() => {
      pending = undefined;
    });
    return pending;
  };
  const forget = (denied: string) => {
    // A stream that ends with its token has an earlier one.
    if (cached?.token === denied) cached = undefined;
  };
  return Object.assign(current, { forget });
}

async function fetchToken(
  { issuer, clientId, audience, scope }: ClientCredentials,
  secret: string,
  ca: string | undefined,
  signal: AbortSignal,
): Promise<AccessToken> {
  const base = issuer.href.replace(/\/$/, "");
  const timeout = DEFAULT_TIMEOUTS.answer;
  const discovery = { method: "GET", ca, signal, timeout, headers: {}, body: undefined } as const;
  const discoveryUrl = new URL(`${base}/.well-known/openid-configuration`);
  const metadata = parseResponse(await sendRequest(discoveryUrl, discovery), discoveryUrl, issuer);
  const endpoint = metadata.token_endpoint;
  if (typeof endpoint !== "string" || !URL.canParse(endpoint) || !/^https?:/.test(endpoint)) {
    throw new LedgerError("denied", `the configuration of issuer ${displayUrl(issuer)} has no valid token_endpoint`);
  }
  const form = new URLSearchParams({ grant_type: "client_credentials", client_id: clientId, client_secret: secret });
  if (audience !== undefined) form.set("audience", audience);
  if (scope !== undefined) form.set("scope", scope);
  const headers = { "content-type": "application/x-www-form-urlencoded", accept: "application/json" };
  const grant = { method: "POST", ca, signal, timeout, headers, body: form.toString() } as const;
  const answer = await sendRequest(new URL(endpoint), grant);
  const { access_token: token, expires_in: expiresIn } = parseResponse(answer, new URL(endpoint), issuer, secret);
  if (typeof token !== "string" || token === "") {
    throw new LedgerError("denied", `the response of issuer ${displayUrl(issuer)} has no access_token`);
  }
  // Some issuers send expires_in as a string.
  const seconds = Number(expiresIn);
  return { token, expiresIn: seconds > 0 ? seconds : DEFAULT_EXPIRES_IN };
}

/** Error messages quote nothing of JSON but the error of RFC 6749: the rest may hold a secret. */
function parseResponse(response: HttpResponse, url: URL, issuer: URL, secret = ""): JsonObject {
  const { status, text, headers } = response;
  const value = parseJson(text);
  const fields = fieldsOf(value);
  if (status !== 200) {
    const foreign = foreignAnswer(response, url);
    const described = foreign === undefined ? describeError(fields) : `, ${foreign}`;
    // An issuer may repeat what it was sent.
    const shown = secret !== "" && described.includes(secret) ? "" : described;
    const kind = status === 429 || status >= 500 ? "busy" : "denied";
    const message = `issuer ${displayUrl(issuer)} answered status ${status}${shown}`;
    throw new LedgerError(kind, message, undefined, { retryMs: retryAfterMs(headers) });
  }
  if (isObject(value)) return fields;
  const problem = value === undefined ? unreadableAnswer(response, url) : "is not a JSON object";
  throw new LedgerError("denied", `the response of issuer ${displayUrl(issuer)} ${problem}`);
}

/** The error of RFC 6749 section 5.2: a constant, and a text for developers. Empty if the response has none. */
const describeError = ({ error, error_description: description }: JsonObject): string =>
  isErrorText(error) ? `, ${[error, description].filter(isErrorText).join(": ")}` : "";

/** The RFC allows printable ASCII without quotes and backslashes. */
const isErrorText = (value: unknown): value is string =>
  typeof value === "string" && /^[\x20\x21\x23-\x5b\x5d-\x7e]{1,300}$/.test(value);
