import { unavailable } from "../../domain/errors.js";
import { NotReady, type StoreScan, StoreUnavailable } from "../../store/port.js";
import { abortAfter } from "../../util/abort-after.js";
import { abortablePause } from "../../util/abortable-pause.js";
import type { PartySearch } from "../sdk/registry.js";
import type { PartyResults } from "./party-results.js";
import { searchParty } from "./search-party.js";

export interface PartySearcherOptions {
  readonly searches: readonly PartySearch[];
  readonly openScan: () => StoreScan;
  /** Why nothing must be answered from the store; undefined if it may be. */
  readonly staleReason: () => string | undefined;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Of one search; 10 s by default. */
  readonly maxMs?: number;
}

const MAX_MS = 10_000;
const MAX_WAITING = 4;

/** Searches for what concerns a party: one search at a time, each for a bounded time. */
export class PartySearcher {
  readonly #options: PartySearcherOptions;
  /** Settles when the latest search has, and never rejects. */
  #latest: Promise<unknown> = Promise.resolve();
  /** Searches that run or wait. */
  #count = 0;
  readonly #end = new AbortController();

  constructor(options: PartySearcherOptions) {
    this.#options = options;
  }

  /** Rejects with "unavailable" where too many searches wait, or the store cannot answer. */
  async search(party: string): Promise<PartyResults> {
    if (this.#count > MAX_WAITING) {
      throw unavailable("too many searches for parties are waiting", { code: "overloaded" });
    }
    this.#count++;
    const results = this.#latest.then(() => this.#run(party)).finally(() => this.#count--);
    this.#latest = results.catch(() => undefined);
    return results;
  }

  /** Ends the searches, those that wait too: they are incomplete. */
  close(): void {
    this.#end.abort();
  }

  async #run(party: string): Promise<PartyResults> {
    const { searches, openScan, staleReason, now, maxMs = MAX_MS } = this.#options;
    const reason = staleReason();
    if (reason !== undefined) throw unavailable(reason);
    try {
      return await abortAfter(maxMs, this.#end.signal, (signal) =>
        searchParty(openScan(), searches, party, { now, pause: abortablePause(signal), signal }),
      );
    } catch (error) {
      if (error instanceof NotReady || error instanceof StoreUnavailable) throw unavailable(error.message);
      throw error;
    }
  }
}
