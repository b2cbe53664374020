/** Clients that answer themselves from responses they keep, as docs/caching.md says. The model checks each use. */
import { setTimeout as delay } from "node:timers/promises";
import { parties } from "../../fixtures/elements.js";
import { sendRest } from "../../fixtures/protocols.js";
import type { Random } from "../../ingest/database/random.js";
import type { JsonValue } from "../../../src/domain/json.js";
import type { Oracle } from "../model/oracle.js";
import { type Query, toCall } from "../model/queries.js";
import { type CachedResponse, ResponseCache } from "./response-cache.js";
import { followChanges } from "./watch-stream.js";

/** One follows all changes, the other those of the registrar. */
const FILTERS = ["", `?registrars=${encodeURIComponent(parties.registrar)}`];
const PAUSE_MS = 20;
const MAX_ETAGS = 100;

export interface CachedClientsOptions {
  readonly url: string;
  readonly random: Random;
  readonly oracle: Oracle;
  readonly createQuery: () => Query;
  readonly fail: (message: string) => void;
  readonly signal: AbortSignal;
}

export class CachedClients {
  readonly counts: Record<string, number> = {};
  readonly #options: CachedClientsOptions;

  constructor(options: CachedClientsOptions) {
    this.#options = options;
  }

  /** Runs until the signal is aborted. */
  async run(): Promise<void> {
    await Promise.all(FILTERS.map((filter) => this.#runClient(filter)));
  }

  async #runClient(filter: string): Promise<void> {
    const { url, signal } = this.#options;
    const cache = new ResponseCache();
    const following = followChanges(url, filter, signal, {
      receive: (event) => {
        this.#count(event.type);
        cache.receive(event);
      },
      ended: () => cache.pause(),
    });
    const etags = new Map<string, CachedResponse>();
    while (!signal.aborted) {
      await this.#useOnce(cache, etags);
      await delay(PAUSE_MS, undefined, { signal }).catch(() => undefined);
    }
    await following;
  }

  /** Most requests repeat an earlier one. */
  async #useOnce(cache: ResponseCache, earlier: Map<string, CachedResponse>): Promise<void> {
    const { random, createQuery, oracle, fail } = this.#options;
    const keys = [...earlier.keys()];
    const repeated = random.below(4) > 0 ? keys[random.below(Math.max(1, keys.length))] : undefined;
    const query = (repeated === undefined ? undefined : earlier.get(repeated)?.query) ?? createQuery();
    const key = JSON.stringify(toCall(query).path) + JSON.stringify(toCall(query).body);
    const found = cache.find(key);
    if (found !== undefined) {
      this.#count("used");
      const wrong = oracle.checkAt(query, found.response.outcome, found.offset);
      if (wrong !== undefined) fail(`cache: ${wrong}`);
      return;
    }
    try {
      await this.#fetch(query, key, cache, earlier);
    } catch {
      // Other clients report requests without a response.
    }
  }

  async #fetch(query: Query, key: string, cache: ResponseCache, earlier: Map<string, CachedResponse>): Promise<void> {
    const { url, oracle, fail, signal } = this.#options;
    const known = earlier.get(key);
    const call = toCall(query);
    const headers = { "content-type": "application/json", "offledger-if-none-match": known?.etag ?? "" };
    const response = await sendRest(url, call, { headers, signal });
    const text = await response.text();
    if (response.status !== 200) return;
    const isSame = known !== undefined && response.headers.get("offledger-not-modified") === "true";
    const head = (name: string): string => response.headers.get(name) ?? "";
    const kept: CachedResponse = {
      query,
      outcome: isSame ? known.outcome : { ok: true, answer: JSON.parse(text) as JsonValue },
      etag: head("etag"),
      generation: head("offledger-generation"),
      offset: Number(head("offledger-offset")),
      tags: head("offledger-tags").split(","),
    };
    this.#count(isSame ? "not modified" : "fetched");
    const wrong = oracle.checkAt(query, kept.outcome, kept.offset);
    if (wrong !== undefined) fail(`${isSame ? "not modified" : "200"}: ${wrong}`);
    if (earlier.size >= MAX_ETAGS) earlier.clear();
    earlier.set(key, kept);
    cache.keep(key, kept);
  }

  #count(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }
}
