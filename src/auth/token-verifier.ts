import { hash } from "node:crypto";
import { errors, jwtVerify, type JWTVerifyOptions } from "jose";
import { LRUCache } from "lru-cache";
import { type IssuerKeys, KeysUnavailable } from "./issuer-keys.js";

export interface TokenRules {
  readonly issuer: string;
  readonly audience: string;
  readonly algorithms: readonly string[];
}

/** A reason contains no part of the token. Unavailable means that the keys cannot be fetched. */
export type Verdict =
  | { readonly status: "valid" }
  | { readonly status: "invalid"; readonly reason: string }
  | { readonly status: "unavailable" };

const VALID: Verdict = { status: "valid" };
const UNAVAILABLE: Verdict = { status: "unavailable" };

const MAX_TOKEN_LENGTH = 8_192;
const CLOCK_TOLERANCE_S = 30;
/** How long a valid token is cached. Longer would accept keys that are withdrawn. */
const MAX_CACHE_MS = 60_000;
const MAX_CACHED_TOKENS = 10_000;

/** Verifies tokens and caches the hashes of valid ones: a signature check costs more than most responses. */
export class TokenVerifier {
  readonly #keys: IssuerKeys;
  readonly #options: JWTVerifyOptions;
  readonly #now: () => number;
  readonly #validTokens: LRUCache<string, true>;

  /** `now` is in milliseconds since 1970. */
  constructor(keys: IssuerKeys, { issuer, audience, algorithms }: TokenRules, now: () => number) {
    this.#keys = keys;
    this.#now = now;
    this.#validTokens = new LRUCache({ max: MAX_CACHED_TOKENS, ttl: MAX_CACHE_MS, ttlResolution: 0, perf: { now } });
    this.#options = {
      issuer,
      audience,
      algorithms: [...algorithms],
      requiredClaims: ["exp"],
      clockTolerance: CLOCK_TOLERANCE_S,
    };
  }

  /** Synchronous for a cached token. */
  verify(token: string): Verdict | Promise<Verdict> {
    if (token.length > MAX_TOKEN_LENGTH) return invalid(`token is longer than ${MAX_TOKEN_LENGTH} characters`);
    const tokenHash = hash("sha256", token, "base64");
    return this.#validTokens.get(tokenHash) === true ? VALID : this.#verifySignature(token, tokenHash);
  }

  async #verifySignature(token: string, tokenHash: string): Promise<Verdict> {
    try {
      const options = { ...this.#options, currentDate: new Date(this.#now()) };
      const { payload } = await jwtVerify(token, this.#keys.find, options);
      this.#cache(tokenHash, (payload.exp ?? 0) * 1000);
      return VALID;
    } catch (error) {
      if (error instanceof errors.JOSEError) return invalid(describe(error, this.#options.algorithms ?? []));
      if (!(error instanceof KeysUnavailable)) this.#keys.reportUnusable(error);
      return UNAVAILABLE;
    }
  }

  #cache(tokenHash: string, expiresAt: number): void {
    const ttl = Math.min(expiresAt - this.#now(), MAX_CACHE_MS);
    // lru-cache reads a ttl of 0 as "never expires". A token may have expired within the clock tolerance.
    if (ttl > 0) this.#validTokens.set(tokenHash, true, { ttl });
  }
}

const invalid = (reason: string): Verdict => ({ status: "invalid", reason });

/** Fixed texts only: the message of an error may contain parts of the token. */
function describe(error: errors.JOSEError, algorithms: readonly string[]): string {
  if (error instanceof errors.JWTExpired) return "token expired";
  if (error instanceof errors.JWTClaimValidationFailed) return claimReasons[error.claim] ?? MALFORMED;
  if (error instanceof errors.JOSEAlgNotAllowed) {
    return `token algorithm is not allowed; allowed are ${algorithms.join(", ")}`;
  }
  return reasons[error.code] ?? MALFORMED;
}

const MALFORMED = "token is not a valid signed JWT";

const claimReasons: Readonly<Record<string, string>> = {
  iss: "token issuer is not trusted (iss)",
  aud: "token is not for this service (aud)",
  exp: "token has no expiry (exp)",
  nbf: "token is not valid yet (nbf)",
};

const reasons: Readonly<Record<string, string>> = {
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: "token signature is invalid",
  ERR_JWKS_NO_MATCHING_KEY: "token is signed with a key that its issuer does not publish",
  ERR_JWKS_MULTIPLE_MATCHING_KEYS: "token does not name the key that signed it (kid)",
};
