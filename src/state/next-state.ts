import type { LogHead } from "./log.js";

interface Preparation<T> {
  readonly generation: number;
  readonly end: AbortController;
  /** Never rejects. Undefined if it could not be loaded. */
  readonly loaded: Promise<T | undefined>;
}

/**
 * What a follower loads of the next generation beside the state that it serves: at most one, which is dropped when another is
 * next, or none.
 */
export class NextState<T> {
  #current: Preparation<T> | undefined;
  /** Of all loads. One begins when the one before has ended: the memory has room for one. */
  #ended: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  /** `load` returns undefined for what is not to be tried again. What throws is loaded again at the next `follow`. */
  constructor(private readonly load: (generation: number, signal: AbortSignal) => Promise<T | undefined>) {}

  /** Begins to load the next generation of a head, and drops any other but that of the head itself, which is about to be served. */
  follow({ generation, next }: LogHead): void {
    const current = this.#current?.generation;
    if (current === next?.generation || current === generation) return;
    this.drop();
    if (next !== undefined && !this.#isClosed) this.#current = this.#prepare(next.generation);
  }

  /** The state of a generation, once it is loaded; undefined if it is not the one that was prepared. */
  async loaded(generation: number): Promise<T | undefined> {
    return this.#current?.generation === generation ? this.#current.loaded : undefined;
  }

  drop(): void {
    this.#current?.end.abort();
    this.#current = undefined;
  }

  /** Resolves when all loads have ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.drop();
    await this.#ended;
  }

  #prepare(generation: number): Preparation<T> {
    const end = new AbortController();
    const load = async () => {
      try {
        return end.signal.aborted ? undefined : await this.load(generation, end.signal);
      } catch {
        if (this.#current?.end === end) this.#current = undefined;
        return undefined;
      }
    };
    const loaded = this.#ended.then(load);
    this.#ended = loaded;
    return { generation, end, loaded };
  }
}
