import { createRemoteJWKSet, customFetch, errors, type FetchImplementation, type JWTVerifyGetKey } from "jose";
import type { Logger } from "pino";
import { abortAfter } from "../util/abort-after.js";

export interface KeyFetchLimits {
  /** Longest wait for a complete response. */
  readonly responseMs: number;
  /** Shortest time between a failure and the next attempt. */
  readonly retryMs: number;
  /** Shortest time between fetches for unknown keys. */
  readonly cooldownMs: number;
  /** Age at which keys are fetched again. The old ones serve meanwhile. */
  readonly refreshMs: number;
  /** Age at which keys are no longer used: the issuer may have withdrawn them. */
  readonly maxAgeMs: number;
  readonly maxBytes: number;
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

/** The keys of an issuer (RFC 7517), fetched on demand and cached. */
export class IssuerKeys {
  readonly #url: URL;
  readonly #log: Logger;
  readonly #limits: KeyFetchLimits;
  readonly #stop = new AbortController();
  readonly #remote: ReturnType<typeof createRemoteJWKSet>;
  #fetchedAt = -Infinity;
  #failedAt = -Infinity;
  #failure: string | undefined;

  constructor(url: URL, log: Logger, limits: KeyFetchLimits = DEFAULT_KEY_FETCH_LIMITS) {
    this.#url = url;
    this.#log = log;
    this.#limits = limits;
    this.#remote = createRemoteJWKSet(url, {
      timeoutDuration: limits.responseMs,
      cooldownDuration: limits.cooldownMs,
      // `find` limits the age: jose would reject known keys as soon as it cannot refresh them.
      cacheMaxAge: Infinity,
      [customFetch]: this.#fetch,
    });
  }

  /** Finds the key that a token names. Throws KeysUnavailable, or the errors of jose that concern the token. */
  readonly find: JWTVerifyGetKey = async (header, token) => {
    const age = performance.now() - this.#fetchedAt;
    try {
      if (age > this.#limits.maxAgeMs) await this.#remote.reload();
      else if (age > this.#limits.refreshMs) this.prefetch();
      return await this.#remote(header, token);
    } catch (error) {
      if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys) throw error;
      if (error instanceof KeysUnavailable) throw error;
      throw this.reportUnusable(error);
    }
  };

  /** Reports a key that cannot verify signatures: a mistake of the issuer, not of the token. */
  reportUnusable(error: unknown): KeysUnavailable {
    return this.#reportUnavailable(`unusable key: ${messageOf(error)}`, error);
  }

  prefetch(): void {
    // The failure has been logged, and the next token tries again.
    this.#remote.reload().catch(() => {});
  }

  stop(): void {
    this.#stop.abort();
  }

  readonly #fetch: FetchImplementation = async (url, init) => {
    if (performance.now() - this.#failedAt < this.#limits.retryMs) throw new KeysUnavailable(this.#failure);
    try {
      // In place of the signal of jose, which is an AbortSignal.timeout.
      const text = await abortAfter(this.#limits.responseMs, this.#stop.signal, async (signal) =>
        readText(await fetch(url, { ...init, signal }), this.#limits.maxBytes),
      );
      const keySet = parseKeySet(text);
      this.#fetchedAt = performance.now();
      if (this.#failure !== undefined) this.#log.info({ url: this.#url.origin }, "issuer keys available again");
      this.#failure = undefined;
      return Response.json(keySet);
    } catch (error) {
      this.#failedAt = performance.now();
      throw this.#reportUnavailable(messageOf(error), error);
    }
  };

  #reportUnavailable(reason: string, cause: unknown): KeysUnavailable {
    const isNew = this.#failure !== reason && !this.#stop.signal.aborted;
    this.#failure = reason;
    if (isNew) this.#log.warn({ url: this.#url.origin, reason }, "issuer keys unavailable");
    return new KeysUnavailable(reason, { cause });
  }
}

async function readText({ body, status }: Response, maxBytes: number): Promise<string> {
  if (status !== 200 || body === null) {
    await body?.cancel();
    throw new Error(`response has status ${status}`);
  }
  const chunks: Uint8Array[] = [];
  let length = 0;
  // The types of streams do not say that the chunks are bytes. Leaving the loop cancels the body.
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    if (length > maxBytes) throw new Error(`response is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** Parses a JWK set. The error contains nothing of the text. */
function parseKeySet(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Rejected below.
  }
  const keys = typeof value === "object" && value !== null && "keys" in value ? value.keys : undefined;
  const isKeySet = Array.isArray(keys) && keys.every((key) => typeof key === "object" && key !== null);
  if (!isKeySet) throw new Error("response is not a JWK set (RFC 7517)");
  return value;
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // The message of fetch itself is "fetch failed".
  const { cause } = error;
  return cause instanceof Error && cause.message !== "" ? cause.message : error.message;
}
