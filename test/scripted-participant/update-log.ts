/** The entries of a ledger by ascending offset, with pruning and restore. */
import { EventEmitter } from "node:events";
import type { Entry } from "./entries.js";

export class UpdateLog {
  readonly #events = new EventEmitter<{ appended: []; restored: [] }>().setMaxListeners(0);
  #entries: Entry[] = [];
  #pruned = 0;

  get end(): number {
    return this.last?.lastOffset ?? 0;
  }

  get last(): Entry | undefined {
    return this.#entries.at(-1);
  }

  get pruned(): number {
    return this.#pruned;
  }

  append(entry: Entry): void {
    this.#entries.push(entry);
    this.#events.emit("appended");
  }

  /** Marks entries up to and including an offset as pruned for clients. The log keeps them. */
  prune(upTo: number): void {
    if (upTo <= this.#pruned || upTo > this.end) throw new Error(`cannot prune up to ${upTo}`);
    this.#pruned = upTo;
  }

  /** Removes all entries after an offset, which must be one that an entry took, or 0. */
  restore(to: number): void {
    const last = this.#entries[this.#indexAfter(to) - 1];
    if (to < this.#pruned || to > (last?.lastOffset ?? 0)) throw new Error(`cannot go back to ${to}`);
    this.#entries.length = this.#indexAfter(to);
    this.#events.emit("restored");
  }

  /** Removes everything. */
  clear(): void {
    this.#entries = [];
    this.#pruned = 0;
    this.#events.emit("restored");
  }

  at(offset: number): Entry | undefined {
    const entry = this.#entries[this.#indexAfter(offset) - 1];
    return entry?.offset === offset ? entry : undefined;
  }

  /** At most `max` entries after an offset, up to and including another. */
  between(after: number, upTo = Number.POSITIVE_INFINITY, max = Number.POSITIVE_INFINITY): readonly Entry[] {
    const from = this.#indexAfter(after);
    return this.#entries.slice(from, Math.min(this.#indexAfter(upTo), from + max));
  }

  /** Calls the first listener after every entry, the second after every restore. Returns a function that removes both. */
  listen(appended: () => void, restored: () => void): () => void {
    this.#events.on("appended", appended).on("restored", restored);
    return () => void this.#events.off("appended", appended).off("restored", restored);
  }

  #indexAfter(offset: number): number {
    let [low, high] = [0, this.#entries.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#entries[middle]?.offset ?? 0) > offset) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
