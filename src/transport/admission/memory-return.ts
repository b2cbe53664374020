import { beginMajorCollection } from "../../util/major-collection.js";

const SAMPLE_MS = 5_000;
/** Connections and requests that leave garbage worth collecting. */
const MIN_LOAD = 64;
/** A load has ended when so small a part of it is left. */
const ENDED_PART = 4;
/** The first ones find the garbage, the last one releases its pages. */
const COLLECTIONS = 3;
/** The garbage of a load is small beside a larger heap, which takes long to mark. */
const MAX_HEAP_BYTES = 512 * 1024 * 1024;

/**
 * Returns memory to the system when a load has ended. V8 collects its old generation when the heap grows, and so keeps
 * the garbage of 1,200 closed connections, 20 MB, for minutes in a process that has little to do. Can go when V8
 * collects it by itself: test/transport/admission/memory-return.test.ts fails then.
 */
export class MemoryReturn {
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
