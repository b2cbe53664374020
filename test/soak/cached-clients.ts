/** Clients that answer themselves from responses they keep, as docs/caching.md says. The model checks each use. */
import { setTimeout as delay } from "node:timers/promises";
import type { JsonValue } from "../../src/domain/json.js";
import { parties } from "../fixtures/elements.js";
import { type Outcome, sendRest } from "../fixtures/protocols.js";
import type { Random } from "../ingest/database/random.js";
import type { Oracle } from "./oracle.js";
import { type Query, toCall } from "./queries.js";

/** One follows all changes, the other those of the registrar. */
const FILTERS = ["", `?registrars=${encodeURIComponent(parties.registrar)}`];
const PAUSE_MS = 20;
const MAX_ETAGS = 100;

interface CachedClientsOptions {
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

interface WatchedEvent {
  readonly type: string;
  readonly offset: number;
  readonly generation: string;
  readonly tags: readonly string[];
}

interface CachedResponse {
  readonly query: Query;
  readonly outcome: Outcome;
  readonly etag: string;
  readonly generation: string;
  readonly offset: number;
  readonly tags: readonly string[];
}

const MAX_EVENTS = 200;
const MAX_RESPONSES = 50;
const MAX_SILENCE_MS = 25_000;

class ResponseCache {
  readonly #responses = new Map<string, CachedResponse>();
  readonly #events: WatchedEvent[] = [];
  #latest: WatchedEvent | undefined;
  #latestAt = 0;
  #isOpen = false;
  /** Events up to this offset are forgotten, and so is what was before the latest reset. */
  #knownFrom = 0;

  receive(event: WatchedEvent): void {
    this.#latest = event;
    this.#latestAt = performance.now();
    this.#isOpen = true;
    if (event.type === "reset") {
      this.#responses.clear();
      this.#events.length = 0;
      this.#knownFrom = event.offset;
    } else if (event.type === "changed") {
      this.#events.push(event);
      if (this.#events.length > MAX_EVENTS) this.#knownFrom = this.#events.shift()?.offset ?? 0;
      for (const [key, response] of this.#responses) {
        if (response.offset < event.offset && isAffected(response, event)) this.#responses.delete(key);
      }
    }
  }

  /** The stream has ended. Its responses may be used again after its next event. */
  pause(): void {
    this.#isOpen = false;
  }

  keep(key: string, response: CachedResponse): void {
    const { offset, generation } = response;
    if (!this.#isOpen || generation !== this.#latest?.generation || offset < this.#knownFrom) return;
    if (this.#events.some((event) => event.offset > offset && isAffected(response, event))) return;
    if (this.#responses.size >= MAX_RESPONSES) this.#responses.clear();
    this.#responses.set(key, response);
  }

  /** A response that may be used, and the offset on the ledger of which it must be the answer. */
  find(key: string): { readonly response: CachedResponse; readonly offset: number } | undefined {
    const response = this.#responses.get(key);
    if (response === undefined || this.#latest === undefined || !this.#isOpen) return undefined;
    if (performance.now() - this.#latestAt > MAX_SILENCE_MS) return undefined;
    return { response, offset: Math.max(response.offset, this.#latest.offset) };
  }
}

const isAffected = ({ tags }: CachedResponse, event: WatchedEvent): boolean =>
  tags.some((tag) => event.tags.includes(tag));

const RETRY_MS = 500;

interface StreamObserver {
  readonly receive: (event: WatchedEvent) => void;
  readonly ended: () => void;
}

/** `query` selects changes, such as `?registrars=…`. */
async function followChanges(
  url: string,
  query: string,
  signal: AbortSignal,
  { receive, ended }: StreamObserver,
): Promise<void> {
  let token = "";
  while (!signal.aborted) {
    try {
      const headers = token === "" ? {} : { "last-event-id": token };
      const response = await fetch(`${url}/api/offledger/v1/watch${query}`, { headers, signal });
      if (response.ok && response.body !== null) {
        for await (const block of blocksOf(response.body)) {
          const event = parse(block);
          if (event === undefined) continue;
          token = event.token;
          receive(event);
        }
      }
    } catch {
      // The service rejects streams while it is stale, and ends them when it becomes so.
    }
    ended();
    await delay(RETRY_MS, undefined, { signal }).catch(() => undefined);
  }
}

async function* blocksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true });
    for (let end = text.indexOf("\n\n"); end !== -1; end = text.indexOf("\n\n")) {
      yield text.slice(0, end);
      text = text.slice(end + 2);
    }
  }
}

function parse(block: string): (WatchedEvent & { readonly token: string }) | undefined {
  const [, type, token, data] = /^event: (\w+)\nid: (\S+)\ndata: (.*)$/.exec(block) ?? [];
  if (type === undefined || token === undefined || data === undefined) return undefined;
  const { generation, offset, changed } = JSON.parse(data) as {
    generation: string;
    offset: string;
    changed?: { tags?: string[] };
  };
  return { type, token, generation, offset: Number(offset), tags: changed?.tags ?? [] };
}
