import type { UnaryResponse } from "@connectrpc/connect";
import { type ResponseTags, TagIndex } from "./tags.js";

/** What allows to use a response again. */
export interface Kept {
  readonly key: string;
  readonly offset: number;
  readonly tags: ResponseTags;
  /** By the clock of the registry. */
  readonly expiresAt: number;
}

/** A response with what is known of it. */
export interface Entry {
  readonly response: UnaryResponse;
  readonly etag: string;
  /** Undefined for a dropped response: the service is asked whether it still holds. */
  kept: Kept | undefined;
  /** Whether an event with one of its tags dropped it. */
  wasChanged: boolean;
}

/**
 * Responses by request, of which those longest unused are removed at the bound. A dropped response stays, so that the
 * service need not send it again if it has not changed.
 */
export class ResponseCache {
  readonly #maxEntries: number;
  /** In the order of their use. */
  readonly #entries = new Map<string, Entry>();
  readonly #index = new TagIndex<Kept>();

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries;
  }

  get(key: string): Entry | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry;
  }

  put(key: string, entry: Entry): void {
    this.#delete(key);
    this.#entries.set(key, entry);
    if (entry.kept !== undefined) this.#index.add(entry.kept);
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#maxEntries) break;
      this.#delete(oldest);
    }
  }

  /** Drops the responses that rest on an earlier offset and have one of the tags. Returns their number. */
  drop(tags: readonly string[], offset: number): number {
    let dropped = 0;
    for (const kept of this.#index.find(tags)) {
      const entry = this.#entries.get(kept.key);
      if (kept.offset >= offset || entry === undefined) continue;
      this.#index.delete(kept);
      entry.kept = undefined;
      entry.wasChanged = true;
      dropped++;
    }
    return dropped;
  }

  dropAll(): void {
    for (const entry of this.#entries.values()) entry.kept = undefined;
    this.#index.clear();
  }

  clear(): void {
    this.#entries.clear();
    this.#index.clear();
  }

  #delete(key: string): void {
    const entry = this.#entries.get(key);
    if (entry?.kept !== undefined) this.#index.delete(entry.kept);
    this.#entries.delete(key);
  }
}
