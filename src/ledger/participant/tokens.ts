import { readFile } from "node:fs/promises";
import { LedgerError } from "./errors.js";
import { sendRequest, DEFAULT_TIMEOUTS } from "./http.js";

/** Gives the token to send now. Throws LedgerError; no message ever carries the token. */
export interface TokenSource {
  (): Promise<string | undefined>;
  /** Told when the participant has not accepted the token, which may have been kept from before. */
  readonly forget?: () => void;
}

export const noToken: TokenSource = () => Promise.resolve(undefined);

/**
 * The content of a file, read anew for every connection: whoever renews the
 * token replaces the file, and nobody has to tell us.
 */
export function tokenFile(path: string): TokenSource {
  return async () => {
    try {
      const token = (await readFile(path, "utf8")).trim();
      if (token !== "") return token;
    } catch (error) {
      const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
      throw new LedgerError("denied", `the token file ${path} cannot be read (${code})`);
    }
    throw new LedgerError("denied", `the token file ${path} is empty`);
  };
}

/** OAuth2 client credentials at an issuer. */
export interface ClientCredentials {
  /** The issuer; its configuration is found by OpenID Connect discovery. */
  readonly issuer: URL;
  readonly clientId: string;
  /** Path of the file that holds the client's secret. */
  readonly secretFile: string;
  /** Undefined where the issuer needs none. */
  readonly audience: string | undefined;
}

/** A token is renewed when this share of its life is left, and at least this long before its end. */
const RENEW_SHARE = 0.2;
const RENEW_MS = 10_000;

/** Fetches tokens with client credentials, keeps each until shortly before it ends, and fetches once for all who wait. */
export function clientCredentials(
  options: ClientCredentials,
  ca: string | undefined,
  signal: AbortSignal,
  now: () => number,
): TokenSource {
  const secret = tokenFile(options.secretFile);
  let kept: { readonly token: string; readonly until: number } | undefined;
  let fetching: Promise<string> | undefined;
  const renew = async (): Promise<string> => {
    const asked = now();
    const granted = await fetchToken(options, (await secret()) ?? "", ca, signal);
    const life = granted.expiresIn * 1000;
    kept = { token: granted.token, until: asked + life - Math.min(Math.max(life * RENEW_SHARE, RENEW_MS), life / 2) };
    return granted.token;
  };
  const current = (): Promise<string> => {
    if (kept !== undefined && now() < kept.until) return Promise.resolve(kept.token);
    fetching ??= renew().finally(() => {
      fetching = undefined;
    });
    return fetching;
  };
  const forget = () => {
    kept = undefined;
  };
  return Object.assign(current, { forget });
}

async function fetchToken(
  { issuer, clientId, audience }: ClientCredentials,
  secret: string,
  ca: string | undefined,
  signal: AbortSignal,
): Promise<{ token: string; expiresIn: number }> {
  const base = issuer.href.replace(/\/$/, "");
  const timeout = DEFAULT_TIMEOUTS.answer;
  const discovery = { method: "GET", ca, signal, timeout, headers: {}, body: undefined } as const;
  const configuration = fields(
    await sendRequest(new URL(`${base}/.well-known/openid-configuration`), discovery),
    issuer,
  );
  const endpoint = configuration.token_endpoint;
  if (typeof endpoint !== "string" || !URL.canParse(endpoint) || !/^https?:/.test(endpoint)) {
    throw new LedgerError("denied", `the configuration of issuer ${base} names no token_endpoint`);
  }
  const form = new URLSearchParams({ grant_type: "client_credentials", client_id: clientId, client_secret: secret });
  if (audience !== undefined) form.set("audience", audience);
  const headers = { "content-type": "application/x-www-form-urlencoded", accept: "application/json" };
  const request = { method: "POST", ca, signal, timeout, headers, body: form.toString() } as const;
  const { access_token: token, expires_in: expiresIn } = fields(await sendRequest(new URL(endpoint), request), issuer);
  if (typeof token !== "string" || token === "") throw new LedgerError("denied", `issuer ${base} gave no access_token`);
  // RFC 6749 recommends expires_in and does not require it; some issuers send it as text.
  const life = Number(expiresIn);
  return { token, expiresIn: life > 0 ? life : 60 };
}

function fields({ status, text }: { status: number; text: string }, issuer: URL): Readonly<Record<string, unknown>> {
  const trouble = status === 429 || status >= 500 ? "busy" : "denied";
  if (status !== 200) throw new LedgerError(trouble, `issuer ${issuer.href} answered status ${status}`);
  try {
    const value: unknown = JSON.parse(text);
    // Every property of an object can be read as unknown.
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  } catch {
    // Told below: what was not JSON may hold a secret.
  }
  throw new LedgerError("denied", `issuer ${issuer.href} answered with what is not a JSON object`);
}
