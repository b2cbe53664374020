import type { UnaryResponse } from "@connectrpc/connect";
import { ChangeHistory } from "./change-history.js";
import { type Entry, type Kept, ResponseCache } from "./response-cache.js";
import { readBasis } from "./response-basis.js";
import type { WatchEvent } from "./change-stream.js";

/** What a registry has done since it was created. */
export interface CacheStatistics {
  /** Calls that were answered from the cache. */
  readonly hits: number;
  /** Calls that waited for the service. */
  readonly misses: number;
  /** Requests to the service that it answered by saying that the response is unchanged, without sending it again. */
  readonly notModified: number;
  /** Responses that were dropped because an event had one of their tags. */
  readonly droppedByChanges: number;
  /** Those of them that the service then found unchanged: they were dropped without need. */
  readonly droppedUnchanged: number;
  /** Events after which all responses were dropped. */
  readonly resets: number;
}

export interface KeeperOptions {
  readonly maxResponses: number;
  readonly maxRememberedTags: number;
  readonly clock: () => number;
  /** Whether the stream of changes is open and not silent. */
  readonly isLive: () => boolean;
}

/** The rules of a cache of docs/caching.md: which responses are kept, used and dropped. */
export class ResponseKeeper {
  readonly counters: { -readonly [name in keyof CacheStatistics]: number } = {
    hits: 0,
    misses: 0,
    notModified: 0,
    droppedByChanges: 0,
    droppedUnchanged: 0,
    resets: 0,
  };
  readonly #options: KeeperOptions;
  readonly #cache: ResponseCache;
  readonly #history: ChangeHistory;
  #changes = 0;

  constructor(options: KeeperOptions) {
    this.#options = options;
    this.#cache = new ResponseCache(options.maxResponses);
    this.#history = new ChangeHistory(options.maxRememberedTags);
  }

  /** Grows with every change: a request that was sent before one may be answered from the state before it. */
  get changes(): number {
    return this.#changes;
  }

  /** The response to a request, if it may be used now. */
  find(key: string): UnaryResponse | undefined {
    const entry = this.#cache.get(key);
    return this.#isUsable(entry) ? entry.response : undefined;
  }

  /** A response that the service need not send again if it has not changed. */
  findEntry(key: string): Entry | undefined {
    return this.#cache.get(key);
  }

  /**
   * Takes a response to a request that was sent at a time of the clock. It is used again only if the rules allow it, and
   * `mayKeep`; others stay as dropped ones. `before` is the entry that the service has found unchanged.
   */
  put(key: string, response: UnaryResponse, sentAt: number, mayKeep: boolean, before: Entry | undefined): void {
    if (before !== undefined) this.#countUnchanged(before);
    const basis = readBasis(response.header);
    if (basis === undefined) return;
    const { etag, offset, tags, validForMs } = basis;
    const current = this.#cache.get(key);
    // Responses overtake each other: callers must not get an older one after a newer one.
    if (this.#isUsable(current) && current.kept.offset > offset) return;
    const isKept = mayKeep && tags !== undefined && this.#options.isLive() && this.#history.isCurrent(basis);
    const kept = isKept ? { key, offset, tags, expiresAt: sentAt + validForMs } : undefined;
    this.#cache.put(key, { response, etag, kept, wasChanged: false });
  }

  handle({ event, generation, offset }: WatchEvent): void {
    const isSame = generation === this.#history.generation;
    if (event.case === "heartbeat" && isSame) return;
    this.#changes++;
    if (event.case === "changed" && isSame) {
      this.#history.add(event.value.tags, Number(offset));
      this.counters.droppedByChanges += this.#cache.drop(event.value.tags, Number(offset));
      return;
    }
    // A reset, or an event of a kind that this client does not know.
    this.#history.reset(generation, Number(offset));
    this.#cache.dropAll();
    this.counters.resets++;
  }

  clear(): void {
    this.#cache.clear();
  }

  #isUsable(entry: Entry | undefined): entry is Entry & { readonly kept: Kept } {
    return entry?.kept !== undefined && this.#options.clock() < entry.kept.expiresAt && this.#options.isLive();
  }

  #countUnchanged(entry: Entry): void {
    this.counters.notModified++;
    if (!entry.wasChanged) return;
    this.counters.droppedUnchanged++;
    entry.wasChanged = false;
  }
}
