/** The rules of docs/caching.md, written from that page alone. */
import type { Outcome } from "../../fixtures/protocols.js";
import type { Query } from "../model/queries.js";

export interface WatchedEvent {
  readonly type: string;
  readonly offset: number;
  readonly generation: string;
  readonly tags: readonly string[];
}

export interface CachedResponse {
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

export class ResponseCache {
  readonly #responses = new Map<string, CachedResponse>();
  readonly #events: WatchedEvent[] = [];
  #latest: WatchedEvent | undefined;
  #latestAt = 0;
  #isOpen = false;
  /** Events up to this offset are forgotten, and so is what was before the latest reset. */
  #knownFrom = 0;

  get keys(): readonly string[] {
    return [...this.#responses.keys()];
  }

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
