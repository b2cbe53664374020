/** As whom a participant is called: three ways in which LocalNets let their users in. */
import { createHmac } from "node:crypto";
import { SetUpError } from "./error.js";

export interface Access {
  /** The user of the participant that acts, such as `ledger-api-user`. */
  user(): Promise<string>;
  /** A token of the user; undefined if the participant does not authenticate. */
  token(): Promise<string | undefined>;
}

/** Of a participant that does not authenticate. */
export const openAccess = (user: string): Access => ({
  user: () => Promise.resolve(user),
  token: () => Promise.resolve(undefined),
});

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

/**
 * A token of a user, signed with the shared secret of a LocalNet (HS256). Without seconds it does not expire, which a LocalNet
 * accepts, but no participant whose max-token-lifetime is not infinite.
 */
export function signToken(secret: string, user: string, audience: string, seconds?: number): string {
  const claims = {
    sub: user,
    aud: audience,
    ...(seconds !== undefined && { exp: Math.floor(Date.now() / 1_000) + seconds }),
  };
  const signed = `${part({ alg: "HS256", typ: "JWT" })}.${part(claims)}`;
  return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
}

/** Of each call. Participants accept five minutes at most by default. */
const TOKEN_SECONDS = 240;

export const secretAccess = (secret: string, user: string, audience: string): Access => ({
  user: () => Promise.resolve(user),
  token: () => Promise.resolve(signToken(secret, user, audience, TOKEN_SECONDS)),
});

export interface OAuth2Client {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

const FETCH_MS = 30_000;
/** A token is renewed this long before it expires, in milliseconds. */
const MARGIN_MS = 30_000;

/** By OAuth2 client credentials: the user is that of the client. */
export function clientAccess(client: OAuth2Client): Access {
  let known: { readonly token: string; readonly until: number } | undefined;
  const token = async (): Promise<string> => {
    if (known === undefined || Date.now() > known.until) known = await fetchToken(client);
    return known.token;
  };
  return { token, user: async () => subjectOf(await token()) };
}

async function fetchToken({ tokenUrl, clientId, clientSecret }: OAuth2Client) {
  try {
    const { response, text } = await fetchWithin(FETCH_MS, tokenUrl, {
      method: "POST",
      body: new URLSearchParams({
        grant_type: "client_credentials",
        client_id: clientId,
        client_secret: clientSecret,
        scope: "openid",
      }),
    });
    const { access_token: token, expires_in: seconds = 60 } = JSON.parse(text) as {
      readonly access_token?: string;
      readonly expires_in?: number;
    };
    if (response.ok && typeof token === "string") return { token, until: Date.now() + seconds * 1_000 - MARGIN_MS };
    throw new Error(`it answers ${response.status}`);
  } catch (error) {
    throw new SetUpError(`${tokenUrl} gives the client ${clientId} no token: ${String(error)}`);
  }
}

/** Sends a request, and reads its whole answer. Rejects with what went wrong, also after so many milliseconds. */
export async function fetchWithin(ms: number, url: string, init: RequestInit) {
  const end = new AbortController();
  const timer = setTimeout(() => end.abort(new Error(`no answer within ${ms / 1_000} s`)), ms);
  try {
    const response = await fetch(url, { ...init, signal: end.signal });
    return { response, text: await response.text() };
  } catch (error) {
    throw causeOf(error);
  } finally {
    clearTimeout(timer);
  }
}

/** `fetch` says what went wrong as the cause of its error. */
export const causeOf = (error: unknown): unknown =>
  error instanceof Error && error.cause instanceof Error ? error.cause : error;

function subjectOf(token: string): string {
  try {
    const { sub } = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as { sub?: unknown };
    if (typeof sub === "string" && sub !== "") return sub;
  } catch {
    // Told below.
  }
  throw new SetUpError("the token of the client names no user (sub): participants need one");
}
