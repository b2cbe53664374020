/** Verifies the bearer tokens of callers with the keys that their issuer publishes (RFC 7517). */
import { hash } from "node:crypto";
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  errors,
  type FetchImplementation,
  type JSONWebKeySet,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
  jwtVerify,
} from "jose";
import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import { abortAfter } from "../util/async.js";
import { parseJsonText } from "../util/json.js";
import { errorMessage } from "../util/logger.js";
import {
  byWayOf,
  foreignAnswer,
  type HttpResponse,
  retryAfterMs,
  sendRequest,
  unreadableAnswer,
} from "../util/outgoing.js";
import { displayUrl } from "../util/urls.js";

export const DEFAULT_KEY_LIMITS = {
  /** Longest wait for a response of the issuer. */
  timeoutMs: 5_000,
  maxBytes: 256 * 1024,
  /** Shortest time between a failure and the next request to the issuer. */
  retryMs: 5_000,
  /** Shortest time between a fetch and the next one for an unknown key. */
  cooldownMs: 10_000,
  /** Age at which keys are fetched again. The old ones serve meanwhile. */
  refreshMs: 600_000,
  /** Age at which keys are no longer used: the issuer may have withdrawn them. */
  maxAgeMs: 86_400_000,
};
export type KeyLimits = Readonly<typeof DEFAULT_KEY_LIMITS>;

/** The keys cannot be fetched or used, so a token can be neither accepted nor rejected. */
export class KeysUnavailable extends Error {}

/**
 * jose's key set, which fetches one at a time and not for each unknown key, and here also neither within `retryMs` of a
 * failure nor more than `maxBytes`; it serves on while it is refreshed.
 */
export class IssuerKeys {
  readonly #keySet: ReturnType<typeof createRemoteJWKSet>;
  #retryAt = 0;
  #refreshAt = 0;
  /** The last reason that was logged, until keys are fetched. */
  #failure: string | undefined;

  constructor(
    private readonly url: URL,
    private readonly log: Logger,
    private readonly limits: KeyLimits = DEFAULT_KEY_LIMITS,
  ) {
    this.#keySet = createRemoteJWKSet(url, {
      timeoutDuration: limits.timeoutMs,
      cooldownDuration: limits.cooldownMs,
      cacheMaxAge: limits.maxAgeMs,
      [customFetch]: this.#fetch,
    });
  }

  /** Finds the key that a token names. Throws KeysUnavailable, or the errors of jose that concern the token. */
  readonly find: JWTVerifyGetKey = async (header, token) => {
    if (performance.now() >= this.#refreshAt) this.refresh();
    try {
      return await this.#keySet(header, token);
    } catch (error) {
      const isOfToken = error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys;
      throw isOfToken || error instanceof KeysUnavailable ? error : this.reportUnusable(error);
    }
  };

  /** Starts a fetch. A failure is logged, and a later token tries again. */
  refresh(): void {
    this.#keySet.reload().catch(() => {});
  }

  /** Reports a key that cannot verify signatures: a mistake of the issuer, not of the token. */
  reportUnusable(error: unknown): KeysUnavailable {
    return this.#reportUnavailable(`unusable key: ${errorMessage(error)}`);
  }

  readonly #fetch: FetchImplementation = async (_url, init) => {
    if (performance.now() < this.#retryAt) throw new KeysUnavailable(this.#failure);
    this.#refreshAt = performance.now() + this.limits.refreshMs;
    let { retryMs } = this.limits;
    try {
      const { timeoutMs, maxBytes } = this.limits;
      const headers = Object.fromEntries(init.headers);
      const response = await abortAfter(timeoutMs, init.signal, async (signal) => {
        try {
          return await sendRequest(this.url, { method: "GET", headers, maxBytes, signal });
        } catch (error) {
          throw signal.aborted ? signal.reason : error;
        }
      });
      retryMs = Math.max(retryMs, retryAfterMs(response.headers) ?? 0);
      const text = keySetIn(response, this.url);
      if (this.#failure !== undefined) this.log.info({ url: displayUrl(this.url) }, "issuer keys available again");
      this.#failure = undefined;
      return new Response(text);
    } catch (error) {
      this.#retryAt = this.#refreshAt = performance.now() + retryMs;
      throw this.#reportUnavailable(errorMessage(error) + byWayOf(this.url));
    }
  };

  #reportUnavailable(reason: string): KeysUnavailable {
    if (this.#failure !== reason) this.log.warn({ url: displayUrl(this.url), reason }, "issuer keys unavailable");
    this.#failure = reason;
    return new KeysUnavailable(reason);
  }
}

/** The text of a key set. Messages have no part of the answer, as that of JSON.parse would. Throws. */
function keySetIn(response: HttpResponse, url: URL): string {
  const { status, text } = response;
  if (status !== 200) {
    const foreign = foreignAnswer(response, url);
    throw new Error(`response has status ${status}${foreign === undefined ? "" : `, ${foreign}`}`);
  }
  const value = parseJsonText(text);
  if (value === undefined) throw new Error(`response ${unreadableAnswer(response, url)}`);
  try {
    createLocalJWKSet(value as JSONWebKeySet);
  } catch {
    throw new Error("response is not a JWK set (RFC 7517)");
  }
  return text;
}

export interface TokenRules {
  readonly issuer: string;
  readonly audience: string;
  readonly algorithms: readonly string[];
}

const MAX_TOKEN_LENGTH = 8_192;
const CLOCK_TOLERANCE_S = 30;
/** How long a valid token is cached. Longer would accept keys that are withdrawn. */
const MAX_CACHE_MS = 60_000;
const MAX_CACHED_TOKENS = 10_000;

/** Verifies tokens, and caches the hashes of valid ones: a signature check costs more than most responses. */
export class TokenVerifier {
  readonly #options: JWTVerifyOptions;
  /** By hash, when each expires, in milliseconds since 1970. */
  readonly #validTokens: LRUCache<string, number>;

  /** `now` is in milliseconds since 1970, `clock` monotonic. */
  constructor(
    private readonly keys: IssuerKeys,
    { issuer, audience, algorithms }: TokenRules,
    private readonly now: () => number,
    clock: () => number,
  ) {
    const perf = { now: clock };
    this.#validTokens = new LRUCache({ max: MAX_CACHED_TOKENS, ttl: MAX_CACHE_MS, ttlResolution: 0, perf });
    this.#options = {
      issuer,
      audience,
      algorithms: [...algorithms],
      requiredClaims: ["exp"],
      clockTolerance: CLOCK_TOLERANCE_S,
    };
  }

  /** Why a token is invalid, without any part of it; undefined where it is valid. Throws KeysUnavailable. */
  async verify(token: string): Promise<string | undefined> {
    if (token.length > MAX_TOKEN_LENGTH) return `token is longer than ${MAX_TOKEN_LENGTH} characters`;
    const tokenHash = hash("sha256", token, "base64");
    // Past its expiry it may still be within the tolerance.
    if (this.now() < (this.#validTokens.get(tokenHash) ?? -Infinity)) return undefined;
    try {
      const options = { ...this.#options, currentDate: new Date(this.now()) };
      const { payload } = await jwtVerify(token, this.keys.find, options);
      this.#validTokens.set(tokenHash, (payload.exp ?? 0) * 1000);
      return undefined;
    } catch (error) {
      if (error instanceof errors.JOSEError) return describe(error, this.#options.algorithms ?? []);
      throw error instanceof KeysUnavailable ? error : this.keys.reportUnusable(error);
    }
  }
}

/** Fixed texts only: the message of an error may contain parts of the token. */
function describe(error: errors.JOSEError, algorithms: readonly string[]): string {
  if (error instanceof errors.JOSEAlgNotAllowed) {
    return `token algorithm is not allowed; allowed are ${algorithms.join(", ")}`;
  }
  const reason = error instanceof errors.JWTClaimValidationFailed ? error.claim : error.code;
  return reasons[reason] ?? "token is not a valid signed JWT";
}

/** By the wrong claim, or the code of jose. */
const reasons: Readonly<Record<string, string>> = {
  iss: "token issuer is not trusted (iss)",
  aud: "token is not for this service (aud)",
  exp: "token has no expiry (exp)",
  nbf: "token is not valid yet (nbf)",
  ERR_JWT_EXPIRED: "token expired",
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: "token signature is invalid",
  ERR_JWKS_NO_MATCHING_KEY: "token is signed with a key that its issuer does not publish",
  ERR_JWKS_MULTIPLE_MATCHING_KEYS: "token does not name the key that signed it (kid)",
};
