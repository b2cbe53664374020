import { hash } from "node:crypto";
import { errors, jwtVerify, type JWTVerifyOptions } from "jose";
import { type IssuerKeys, KeysUnavailable } from "./issuer-keys.js";

/** What a token has to be. */
export interface TokenRules {
  readonly issuer: string;
  readonly audience: string;
  readonly algorithms: readonly string[];
}

/** What was found of a token: it is good, it is wrong for a reason that its bearer may know, or nobody can say. */
export type Verdict = "good" | "unknown" | { readonly wrong: string };

/** Longest token that is looked at, in characters. */
const MAX_LENGTH = 8_192;
/** How far the clocks of issuer and service may be apart, in seconds. */
const TOLERANCE_S = 30;
/** For how long a token that was good is taken for good, in milliseconds: a key may be withdrawn meanwhile. */
const TRUST_MS = 60_000;
/** Most tokens that are remembered. */
const MAX_REMEMBERED = 10_000;

/** Checks tokens, and remembers for a while those that are good: a check costs more than most answers. */
export class TokenVerifier {
  readonly #keys: IssuerKeys;
  readonly #options: JWTVerifyOptions;
  readonly #now: () => number;
  /** Until when a token is good, by its hash: the tokens themselves are nowhere. */
  readonly #good = new Map<string, number>();

  /** `now` gives milliseconds since 1970. */
  constructor(keys: IssuerKeys, { issuer, audience, algorithms }: TokenRules, now: () => number) {
    this.#keys = keys;
    this.#now = now;
    this.#options = {
      issuer,
      audience,
      algorithms: [...algorithms],
      requiredClaims: ["exp"],
      clockTolerance: TOLERANCE_S,
    };
  }

  /** At once where the token is remembered. */
  check(token: string): Verdict | Promise<Verdict> {
    if (token.length > MAX_LENGTH) return { wrong: `the token is longer than ${MAX_LENGTH} characters` };
    const name = hash("sha256", token, "base64");
    if ((this.#good.get(name) ?? 0) > this.#now()) return "good";
    return this.#verify(token, name);
  }

  async #verify(token: string, name: string): Promise<Verdict> {
    try {
      const options = { ...this.#options, currentDate: new Date(this.#now()) };
      const { payload } = await jwtVerify(token, this.#keys.find, options);
      this.#remember(name, (payload.exp ?? 0) * 1000);
      return "good";
    } catch (error) {
      if (error instanceof errors.JOSEError) return wrongness(error, this.#options.algorithms ?? []);
      if (!(error instanceof KeysUnavailable)) this.#keys.unusable(error);
      return "unknown";
    }
  }

  #remember(name: string, expiry: number): void {
    // Behind the others, also where it was there already.
    this.#good.delete(name);
    const [oldest] = this.#good.keys();
    if (this.#good.size >= MAX_REMEMBERED && oldest !== undefined) this.#good.delete(oldest);
    this.#good.set(name, Math.min(expiry, this.#now() + TRUST_MS));
  }
}

/** Words of ours alone: those of an error may hold parts of the token. */
function wrongness(error: errors.JOSEError, algorithms: readonly string[]): Verdict {
  if (error instanceof errors.JWTExpired) return { wrong: "the token has expired" };
  if (error instanceof errors.JWTClaimValidationFailed) return { wrong: claims[error.claim] ?? NO_TOKEN };
  if (error instanceof errors.JOSEAlgNotAllowed) {
    return { wrong: `the token is not signed by an algorithm that is taken here: ${algorithms.join(", ")}` };
  }
  return { wrong: words[error.code] ?? NO_TOKEN };
}

const NO_TOKEN = "the token is not a signed JWT that can be read";

const claims: Readonly<Record<string, string>> = {
  iss: "the token is not of the issuer that is trusted here (iss)",
  aud: "the token is not for this service (aud)",
  exp: "the token does not say when it expires (exp)",
  nbf: "the token is not valid yet (nbf)",
};

const words: Readonly<Record<string, string>> = {
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: "the signature of the token does not hold",
  ERR_JWKS_NO_MATCHING_KEY: "the token is signed by a key that its issuer does not publish",
  ERR_JWKS_MULTIPLE_MATCHING_KEYS: "the token does not say which key of its issuer it is signed by (kid)",
};
