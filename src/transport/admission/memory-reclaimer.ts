import { beginMajorCollection } from "../../util/major-collection.js";

const SAMPLE_MS = 5_000;
/** A load of fewer connections and requests leaves little garbage. */
const MIN_LOAD = 64;
/** A load has ended when less than one part in so many is left. */
const ENDED_PART = 4;
/** Samples before the first collection: a load may pause for a moment, as when its clients connect anew. */
const QUIET_SAMPLES = 1;
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
  /** A load that has ended is back when it is as large as this. */
  #endedBelow = 0;
  /** Of a load that has ended. */
  #samplesLeft = 0;

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
    const hasEnded = this.#peak >= MIN_LOAD && load < this.#peak / ENDED_PART;
    if (hasEnded) {
      this.#samplesLeft = QUIET_SAMPLES + COLLECTIONS;
      this.#endedBelow = this.#peak / ENDED_PART;
      this.#peak = load;
    }
    this.#peak = Math.max(this.#peak, load);
    // Marking takes most of the event loop for a tenth of a second: requests of a load that is back would wait for it.
    if (load >= this.#endedBelow) this.#samplesLeft = 0;
    if (this.#samplesLeft === 0) return;
    this.#samplesLeft--;
    const collects = this.#samplesLeft < COLLECTIONS;
    if (collects && process.memoryUsage().heapUsed < MAX_HEAP_BYTES) this.#collect();
  }
}
