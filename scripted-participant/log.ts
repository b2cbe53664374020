/** The entries of a ledger in ascending order of their offsets, with what is forgotten at either end. */
import { EventEmitter } from "node:events";
import type { Entry } from "./entries.js";

export class Log {
  readonly #events = new EventEmitter<{ appended: []; restored: [] }>().setMaxListeners(0);
  #entries: Entry[] = [];
  #pruned = 0;

  /** The offset of the last entry; 0 where there is none. */
  get end(): number {
    return this.#entries.at(-1)?.offset ?? 0;
  }

  get pruned(): number {
    return this.#pruned;
  }

  append(entry: Entry): void {
    this.#entries.push(entry);
    this.#events.emit("appended");
  }

  /** Entries up to and including an offset may no longer be read by clients; here they stay. */
  prune(upTo: number): void {
    if (upTo <= this.#pruned || upTo > this.end) throw new Error(`cannot prune up to ${upTo}`);
    this.#pruned = upTo;
  }

  /** Forgets all entries behind an offset, which has to be that of an entry, or 0. */
  restore(to: number): void {
    if (to < this.#pruned || (to > 0 && this.at(to) === undefined)) throw new Error(`cannot go back to ${to}`);
    this.#entries.length = this.#behind(to);
    this.#events.emit("restored");
  }

  at(offset: number): Entry | undefined {
    const entry = this.#entries[this.#behind(offset) - 1];
    return entry?.offset === offset ? entry : undefined;
  }

  /** Entries behind an offset, in their order, up to and including another; no more than `most`. */
  between(after: number, upTo = Number.POSITIVE_INFINITY, max = Number.POSITIVE_INFINITY): readonly Entry[] {
    const from = this.#behind(after);
    return this.#entries.slice(from, Math.min(this.#behind(upTo), from + max));
  }

  /** Calls the one after every entry that is appended, the other after every restore; returns how to end it. */
  listen(appended: () => void, restored: () => void): () => void {
    this.#events.on("appended", appended).on("restored", restored);
    return () => void this.#events.off("appended", appended).off("restored", restored);
  }

  /** The index of the first entry behind an offset. */
  #behind(offset: number): number {
    let [low, high] = [0, this.#entries.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#entries[middle]?.offset ?? 0) > offset) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
