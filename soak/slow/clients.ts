/** Slow clients of every sort, so many at a time. */
import { setTimeout as delay } from "node:timers/promises";
import type { Random } from "../../test/ingest/database/random.js";
import type { Load } from "../request-load.js";
import type { Judge } from "../model/oracle.js";
import type { Question } from "../model/queries.js";
import { drip, leaves, leavesAnswers, silent, slowReader } from "./http1.js";
import { drip2, leaves2, silent2, slowReader2 } from "./http2.js";

export interface Surroundings {
  readonly url: string;
  readonly random: Random;
  readonly judge: Judge;
  /** Something to ask for. */
  readonly question: () => Question;
  /** Has an answer judged, where one came. */
  readonly note: Load["note"];
  /** Waits; ends early, and does not throw, when the signal is aborted. */
  readonly pause: (milliseconds: number) => Promise<unknown>;
  readonly signal: AbortSignal;
}

/** One client from its beginning to its end. Each wait of it has a bound. */
export type Slow = (surroundings: Surroundings) => Promise<void>;

const sorts = { drip, slowReader, silent, leaves, leavesAnswers, drip2, slowReader2, leaves2, silent2 };
const names = Object.keys(sorts) as (keyof typeof sorts)[];

/** How many there are at a time. */
const AT_ONCE = 16;

export class SlowClients {
  readonly counts: Record<string, number> = {};
  readonly #surroundings: Surroundings;

  constructor(surroundings: Omit<Surroundings, "pause">) {
    const { signal } = surroundings;
    const pause = (ms: number) => delay(ms, undefined, { signal }).catch(() => undefined);
    this.#surroundings = { ...surroundings, pause };
  }

  /** Has clients come and go until the signal is aborted. */
  async run(): Promise<void> {
    await Promise.all(Array.from({ length: AT_ONCE }, () => this.#one()));
  }

  async #one(): Promise<void> {
    const { random, signal, pause } = this.#surroundings;
    while (!signal.aborted) {
      const name = names[random.below(names.length)] ?? "drip";
      this.counts[name] = (this.counts[name] ?? 0) + 1;
      await sorts[name](this.#surroundings);
      await pause(100);
    }
  }
}
