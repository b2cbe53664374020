import { createRemoteJWKSet, customFetch, errors, type FetchImplementation, type JWTVerifyGetKey } from "jose";
import type { Logger } from "pino";

/** Waits and bounds of fetching the keys, in milliseconds and bytes. */
export interface KeyFetchLimits {
  /** Longest wait for a whole answer. */
  readonly answer: number;
  /** Least time between a failure and the next attempt. */
  readonly pause: number;
  /** Least time between fetches for keys that are not known. */
  readonly cooldown: number;
  /** Age from which on keys are fetched anew, while the old ones still serve. */
  readonly renew: number;
  /** Age from which on old keys serve no more: an issuer may have withdrawn them. */
  readonly keep: number;
  readonly bytes: number;
}

export const DEFAULT_KEY_FETCH_LIMITS: KeyFetchLimits = {
  answer: 5_000,
  pause: 5_000,
  cooldown: 10_000,
  renew: 600_000,
  keep: 86_400_000,
  bytes: 256 * 1024,
};

/** The keys cannot be had or used at present, so nothing can be said of a token. */
export class KeysUnavailable extends Error {}

/** The keys of an issuer, fetched when they are needed, and kept. */
export class IssuerKeys {
  readonly #url: URL;
  readonly #log: Logger;
  readonly #limits: KeyFetchLimits;
  readonly #stop = new AbortController();
  readonly #remote: ReturnType<typeof createRemoteJWKSet>;
  #fetchedAt = -Infinity;
  #failedAt = -Infinity;
  /** Why they could not be had the last time; undefined where they could. */
  #trouble: string | undefined;

  constructor(url: URL, log: Logger, limits: KeyFetchLimits = DEFAULT_KEY_FETCH_LIMITS) {
    this.#url = url;
    this.#log = log;
    this.#limits = limits;
    this.#remote = createRemoteJWKSet(url, {
      timeoutDuration: limits.answer,
      cooldownDuration: limits.cooldown,
      // How old they may be is told here: jose would refuse known keys as soon as it cannot renew them.
      cacheMaxAge: Infinity,
      [customFetch]: this.#fetch,
    });
  }

  /** The key that a token names. Throws KeysAway, and of jose's errors those that are about the token. */
  readonly find: JWTVerifyGetKey = async (header, token) => {
    const age = performance.now() - this.#fetchedAt;
    try {
      if (age > this.#limits.keep) await this.#remote.reload();
      else if (age > this.#limits.renew) this.prefetch();
      return await this.#remote(header, token);
    } catch (error) {
      if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys) throw error;
      if (error instanceof KeysUnavailable) throw error;
      throw this.unusable(error);
    }
  };

  /** Notes a key that no signature can be checked by, which is the issuer's fault and no token's. */
  unusable(error: unknown): KeysUnavailable {
    return this.#away(`a key cannot be used: ${messageOf(error)}`, error);
  }

  /** Begins to fetch the keys, and waits for nothing. */
  prefetch(): void {
    // What went wrong has been logged, and the next token asks again.
    this.#remote.reload().catch(() => {});
  }

  /** Fetches nothing more. */
  stop(): void {
    this.#stop.abort();
  }

  readonly #fetch: FetchImplementation = async (url, init) => {
    if (performance.now() - this.#failedAt < this.#limits.pause) throw new KeysUnavailable(this.#trouble);
    try {
      const signal = AbortSignal.any([init.signal, this.#stop.signal]);
      const response = await fetch(url, { ...init, signal });
      const set = keySet(await textOf(response, this.#limits.bytes));
      this.#fetchedAt = performance.now();
      if (this.#trouble !== undefined) this.#log.info({ url: this.#url.origin }, "the keys for tokens are there again");
      this.#trouble = undefined;
      return Response.json(set);
    } catch (error) {
      this.#failedAt = performance.now();
      throw this.#away(messageOf(error), error);
    }
  };

  #away(reason: string, cause: unknown): KeysUnavailable {
    const isNews = this.#trouble !== reason && !this.#stop.signal.aborted;
    this.#trouble = reason;
    if (isNews) this.#log.warn({ url: this.#url.origin, reason }, "the keys for tokens cannot be had");
    return new KeysUnavailable(reason, { cause });
  }
}

/** A whole body as text. Throws where the answer is not a good one, or larger than the bound. */
async function textOf(response: Response, max: number): Promise<string> {
  const { body, status } = response;
  if (status !== 200 || body === null) {
    await body?.cancel();
    throw new Error(`the answer has status ${status}`);
  }
  const chunks: Uint8Array[] = [];
  let length = 0;
  // The bytes of a body, whatever the types of streams say. Leaving the loop cancels it.
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    if (length > max) throw new Error(`the answer is larger than ${max} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** A set of keys. Throws without a word of what stood there instead. */
function keySet(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Told below.
  }
  const keys = typeof value === "object" && value !== null && "keys" in value ? value.keys : undefined;
  const isSet = Array.isArray(keys) && keys.every((key) => typeof key === "object" && key !== null);
  if (!isSet) throw new Error("the answer is no set of keys (RFC 7517)");
  return value;
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // What fetch says by itself is "fetch failed".
  const { cause } = error;
  return cause instanceof Error && cause.message !== "" ? cause.message : error.message;
}
