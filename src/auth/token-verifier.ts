import { hash } from "node:crypto";
import { errors, jwtVerify, type JWTVerifyOptions } from "jose";
import { LRUCache } from "lru-cache";
import { FairLimiter, type FairLimits } from "../util/fair-limiter.js";
import { type IssuerKeys, KeysUnavailable } from "./issuer-keys.js";
import { keyIdOf } from "./key-id.js";

export interface TokenRules {
  readonly issuer: string;
  readonly audience: string;
  readonly algorithms: readonly string[];
}

/** A reason contains no part of the token. Unavailable means that the keys cannot be fetched. */
export type Verdict =
  | { readonly status: "valid" }
  | { readonly status: "invalid"; readonly reason: string }
  | { readonly status: "unavailable" }
  /** Too many tokens wait to be verified. */
  | { readonly status: "overloaded" };

const VALID: Verdict = { status: "valid" };
const UNAVAILABLE: Verdict = { status: "unavailable" };
const OVERLOADED: Verdict = { status: "overloaded" };

const MAX_TOKEN_LENGTH = 8_192;
const CLOCK_TOLERANCE_S = 30;
/** How long a valid token is cached. Longer would accept keys that are withdrawn. */
const MAX_CACHE_MS = 60_000;
const MAX_CACHED_TOKENS = 10_000;

/** Verifications under way and waiting, by connection. A waiting token has at most MAX_TOKEN_LENGTH bytes. */
export const VERIFICATION_LIMITS: FairLimits = { total: 64, perKey: 8, waiting: 1_024 };

/**
 * Verifies tokens and caches the hashes of valid ones: a signature check costs more than most responses. A flood of
 * other tokens delays the checks of a connection by little, and cached tokens not at all.
 */
export class TokenVerifier {
  readonly #keys: IssuerKeys;
  readonly #options: JWTVerifyOptions;
  readonly #now: () => number;
  readonly #validTokens: LRUCache<string, true>;
  readonly #verifications = new FairLimiter<object>(VERIFICATION_LIMITS);

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

  /** Synchronous for a cached token, and for one with an unknown key. `connection` is the one that sent the token. */
  verify(token: string, connection: object): Verdict | Promise<Verdict> {
    if (token.length > MAX_TOKEN_LENGTH) return TOO_LONG;
    const tokenHash = hash("sha256", token, "base64");
    if (this.#validTokens.get(tokenHash) === true) return VALID;
    const keyId = keyIdOf(token);
    if (keyId !== undefined && this.#keys.isUnknown(keyId)) return UNPUBLISHED;
    return this.#verifyInTurn(token, tokenHash, connection);
  }

  async #verifyInTurn(token: string, tokenHash: string, connection: object): Promise<Verdict> {
    const verdict = await this.#verifications.run(connection, () => this.#verifySignature(token, tokenHash));
    return verdict ?? OVERLOADED;
  }

  async #verifySignature(token: string, tokenHash: string): Promise<Verdict> {
    // Another request with the token may have been first.
    if (this.#validTokens.get(tokenHash) === true) return VALID;
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

const NOT_PUBLISHED = "token is signed with a key that its issuer does not publish";
const UNPUBLISHED: Verdict = { status: "invalid", reason: NOT_PUBLISHED };
const TOO_LONG: Verdict = { status: "invalid", reason: `token is longer than ${MAX_TOKEN_LENGTH} characters` };

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
  ERR_JWKS_NO_MATCHING_KEY: NOT_PUBLISHED,
  ERR_JWKS_MULTIPLE_MATCHING_KEYS: "token does not name the key that signed it (kid)",
};
