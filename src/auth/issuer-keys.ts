import { createLocalJWKSet, errors, type JWTVerifyGetKey } from "jose";
import type { Logger } from "pino";
import { fetchKeySet, type ResponseLimits } from "./fetch-key-set.js";

export interface KeyFetchLimits extends ResponseLimits {
  /** Shortest time between a failure and the next attempt. */
  readonly retryMs: number;
  /** Shortest time between an attempt and the next one for an unknown key. */
  readonly cooldownMs: number;
  /** Age at which keys are fetched again. The old ones serve meanwhile. */
  readonly refreshMs: number;
  /** Age at which keys are no longer used: the issuer may have withdrawn them. */
  readonly maxAgeMs: number;
}

export const DEFAULT_KEY_FETCH_LIMITS: KeyFetchLimits = {
  responseMs: 5_000,
  retryMs: 5_000,
  cooldownMs: 10_000,
  refreshMs: 600_000,
  maxAgeMs: 86_400_000,
  maxBytes: 256 * 1024,
};

/** The keys cannot be fetched or used, so a token can be neither accepted nor rejected. */
export class KeysUnavailable extends Error {}

type KeySet = ReturnType<typeof createLocalJWKSet>;

/**
 * The keys of an issuer (RFC 7517), fetched on demand and cached, one fetch at a time. A token with a known key never
 * waits for a fetch. Of the tokens with unknown keys one per cooldown does, whether the fetch succeeds or not.
 */
export class IssuerKeys {
  readonly #url: URL;
  readonly #log: Logger;
  readonly #limits: KeyFetchLimits;
  readonly #stop = new AbortController();
  #keySet: KeySet | undefined;
  /** The ids of the keys. */
  #keyIds: ReadonlySet<unknown> = new Set();
  #fetchedAt = -Infinity;
  /** The end of the last attempt. */
  #attemptedAt = -Infinity;
  #hasFailed = false;
  #attempt: Promise<KeySet> | undefined;
  /** The last reason that was logged, until keys are fetched. */
  #failure: string | undefined;

  constructor(url: URL, log: Logger, limits: KeyFetchLimits = DEFAULT_KEY_FETCH_LIMITS) {
    this.#url = url;
    this.#log = log;
    this.#limits = limits;
  }

  /** Finds the key that a token names. Throws KeysUnavailable, or the errors of jose that concern the token. */
  readonly find: JWTVerifyGetKey = async (header, token) => {
    try {
      const keySet = this.#usableKeySet() ?? (await this.#load());
      try {
        return await keySet(header, token);
      } catch (error) {
        if (!(error instanceof errors.JWKSNoMatchingKey) || !this.#mayAskForUnknown()) throw error;
        const newer = await this.#load();
        return await newer(header, token);
      }
    } catch (error) {
      if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys) throw error;
      if (error instanceof KeysUnavailable) throw error;
      throw this.reportUnusable(error);
    }
  };

  /** Whether no key has the id, and none may be asked for now. Cheaper than `find`: a caller chooses the id. */
  isUnknown(keyId: string): boolean {
    return !this.#keyIds.has(keyId) && this.#usableKeySet() !== undefined && !this.#mayAskForUnknown();
  }

  /** Reports a key that cannot verify signatures: a mistake of the issuer, not of the token. */
  reportUnusable(error: unknown): KeysUnavailable {
    return this.#reportUnavailable(`unusable key: ${messageOf(error)}`, error);
  }

  prefetch(): void {
    // The failure has been logged, and the next token tries again.
    this.#load().catch(() => {});
  }

  stop(): void {
    this.#stop.abort();
  }

  /** Undefined where the keys have to be fetched first. */
  #usableKeySet(): KeySet | undefined {
    const age = performance.now() - this.#fetchedAt;
    if (age > this.#limits.maxAgeMs) return undefined;
    if (age > this.#limits.refreshMs && this.#mayRetry()) this.prefetch();
    return this.#keySet;
  }

  #mayAskForUnknown(): boolean {
    const isCool = performance.now() - this.#attemptedAt >= this.#limits.cooldownMs;
    return this.#attempt === undefined && isCool && this.#mayRetry();
  }

  #mayRetry(): boolean {
    return !this.#hasFailed || performance.now() - this.#attemptedAt >= this.#limits.retryMs;
  }

  /** Fetches the keys, or joins the attempt that is under way. */
  #load(): Promise<KeySet> {
    if (this.#attempt !== undefined) return this.#attempt;
    if (!this.#mayRetry()) return Promise.reject(new KeysUnavailable(this.#failure));
    this.#attempt = this.#fetch().finally(() => {
      this.#attempt = undefined;
      this.#attemptedAt = performance.now();
    });
    return this.#attempt;
  }

  async #fetch(): Promise<KeySet> {
    try {
      const published = await fetchKeySet(this.#url, this.#limits, this.#stop.signal);
      const keySet = createLocalJWKSet(published);
      this.#keySet = keySet;
      this.#keyIds = new Set(published.keys.map(({ kid }) => kid));
      this.#fetchedAt = performance.now();
      this.#hasFailed = false;
      if (this.#failure !== undefined) this.#log.info({ url: this.#url.origin }, "issuer keys available again");
      this.#failure = undefined;
      return keySet;
    } catch (error) {
      this.#hasFailed = true;
      throw this.#reportUnavailable(messageOf(error), error);
    }
  }

  #reportUnavailable(reason: string, cause: unknown): KeysUnavailable {
    const isNew = this.#failure !== reason && !this.#stop.signal.aborted;
    this.#failure = reason;
    if (isNew) this.#log.warn({ url: this.#url.origin, reason }, "issuer keys unavailable");
    return new KeysUnavailable(reason, { cause });
  }
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // The message of fetch itself is "fetch failed".
  const { cause } = error;
  return cause instanceof Error && cause.message !== "" ? cause.message : error.message;
}
