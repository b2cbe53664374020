import { clientCredentials, type ClientCredentials } from "./client-credentials.js";
import { tokenFile } from "./token-file.js";

/** Returns the token to send; undefined if none is needed. Throws LedgerError, whose message never holds a token. */
export interface TokenSource {
  (): Promise<string | undefined>;
  /** Drops a cached token. Called when the participant has not accepted it. */
  readonly forget?: () => void;
}

export const noToken: TokenSource = () => Promise.resolve(undefined);

export type LedgerCredentials = { readonly tokenFile: string } | ClientCredentials;

export function createTokenSource(
  credentials: LedgerCredentials | undefined,
  ca: string | undefined,
  signal: AbortSignal,
  now: () => number,
): TokenSource {
  if (credentials === undefined) return noToken;
  if ("tokenFile" in credentials) return tokenFile(credentials.tokenFile);
  return clientCredentials(credentials, ca, signal, now);
}
