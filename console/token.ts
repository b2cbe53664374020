/** The operator's token: for this tab only, in its session storage. */

const KEY = "offledger-operator-token";

/** Where the browser forbids storage. */
let inMemory: string | undefined;

export function readToken(): string | undefined {
  try {
    return sessionStorage.getItem(KEY) ?? inMemory;
  } catch {
    return inMemory;
  }
}

/** Stores a token, or forgets it. */
export function writeToken(token: string | undefined): void {
  inMemory = token;
  try {
    if (token === undefined) sessionStorage.removeItem(KEY);
    else sessionStorage.setItem(KEY, token);
  } catch {
    // `inMemory` has it.
  }
}
