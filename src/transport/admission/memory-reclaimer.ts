import { beginMajorCollection } from "../../util/major-collection.js";

const SAMPLE_MS = 5_000;
/** A load of fewer connections and requests leaves little garbage. */
const MIN_LOAD = 64;
/** A load has ended when less than one part in so many is left. */
const ENDED_PART = 4;
/** The first collections find the garbage, the last one releases its pages. */
const COLLECTIONS = 3;
/** Marking a larger heap takes long, and gains little. */
const MAX_HEAP_BYTES = 512 * 1024 * 1024;

/**
 * Collects garbage when a load has ended, so that V8 releases its memory. V8 collects the old generation only when the
 * heap grows: in a process with little to do it keeps the garbage of 1,200 connections, 20 MB, for minutes. Can go when
 * V8 collects it: test/transport/admission/memory-reclaimer.test.ts fails then.
 */
export class MemoryReclaimer {
  readonly #load: () => number;
  readonly #collect: () => void;
  readonly #sampleMs: number;
  #timer: NodeJS.Timeout | undefined;
  #peak = 0;
  #collections = 0;

  /** `load`: how many connections are open, and requests under way. The rest is for tests. */
  constructor(load: () => number, collect = beginMajorCollection, sampleMs = SAMPLE_MS) {
    this.#load = load;
    this.#collect = collect;
    this.#sampleMs = sampleMs;
  }

  start(): void {
    this.#timer ??= setInterval(() => this.#sample(), this.#sampleMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #sample(): void {
    const load = this.#load();
    if (this.#peak >= MIN_LOAD && load < this.#peak / ENDED_PART) {
      this.#collections = COLLECTIONS;
      this.#peak = load;
    }
    this.#peak = Math.max(this.#peak, load);
    if (this.#collections === 0) return;
    this.#collections--;
    if (process.memoryUsage().heapUsed < MAX_HEAP_BYTES) this.#collect();
  }
}
