/** Sends the inputs of one sort, some at a time, and looks again and again whether others are still served. */
import { control } from "./control.js";
import { diceOf } from "./prng.js";
import type { Sort } from "./input.js";
import type { Target } from "./send/target.js";

/** So many inputs stand between two looks at whether others are served. */
const BATCH = 250;
/** After so many failures there is no need of more. */
const MOST_FAILURES = 20;

export interface Failure {
  /** What repeats it: `rest:17`. */
  readonly input: string;
  readonly wrong: string;
  readonly shown: string;
}

/** What comes of all lanes. */
export interface Tally {
  readonly failures: Failure[];
  /** How often each status came, by sort. */
  readonly came: Map<string, number>;
  sent: number;
}

export class Lane {
  readonly #sort: Sort;
  readonly #seed: number;
  readonly #tally: Tally;
  /** Inputs that are on their way, or were not long ago. */
  readonly recent = new Set<number>();

  constructor(sort: Sort, seed: number, tally: Tally) {
    this.#sort = sort;
    this.#seed = seed;
    this.#tally = tally;
  }

  get name(): string {
    return this.#sort.name;
  }

  /** Sends those from one number up to another, which is not among them. `goesOn` is asked before each. */
  async run(target: Target, from: number, to: number, goesOn: () => boolean): Promise<void> {
    const mayGoOn = () => goesOn() && this.#tally.failures.length < MOST_FAILURES;
    for (let first = from; first < to && mayGoOn(); first += BATCH) {
      const end = Math.min(first + BATCH, to);
      let next = first;
      const worker = async () => {
        while (next < end && mayGoOn()) await this.#one(target, next++);
      };
      await Promise.all(Array.from({ length: this.#sort.inFlight }, worker));
      const wrong = mayGoOn() ? await control(target) : undefined;
      if (wrong !== undefined)
        this.#fail(`${this.name}:${first}-${end - 1}`, wrong, "one of these, or what came before");
    }
  }

  async #one(target: Target, index: number): Promise<void> {
    this.recent.add(index);
    const [oldest] = this.recent;
    if (oldest !== undefined && this.recent.size > 3 * this.#sort.inFlight) this.recent.delete(oldest);
    const input = this.#sort.make(diceOf(this.#seed, this.name, index));
    const { came, wrong } = await input.send(target);
    const key = `${this.name} ${came}`;
    this.#tally.came.set(key, (this.#tally.came.get(key) ?? 0) + 1);
    this.#tally.sent++;
    if (wrong !== undefined) this.#fail(`${this.name}:${index}`, wrong, input.show());
  }

  #fail(input: string, wrong: string, shown: string): void {
    this.#tally.failures.push({ input, wrong, shown });
  }
}
