/** Sends the inputs of one generator, and checks after each batch that valid requests still succeed. */
import { sendControlRequests } from "./control.js";
import type { InputGenerator } from "./input.js";
import { createPrng } from "./prng.js";
import type { Target } from "./send/target.js";

const BATCH = 250;
const MAX_FAILURES = 20;

export interface Failure {
  /** Repeats it with OFFLEDGER_FUZZ_ONLY: `rest:17`. */
  readonly input: string;
  readonly fault: string;
  readonly shown: string;
}

export interface Tally {
  readonly failures: Failure[];
  /** By generator and result, as `rest 200`. */
  readonly results: Map<string, number>;
  sent: number;
}

export class FuzzWorker {
  readonly #generator: InputGenerator;
  readonly #seed: number;
  readonly #tally: Tally;
  readonly recent = new Set<number>();

  constructor(generator: InputGenerator, seed: number, tally: Tally) {
    this.#generator = generator;
    this.#seed = seed;
    this.#tally = tally;
  }

  get name(): string {
    return this.#generator.name;
  }

  /** Sends the inputs from `from` to `to` - 1. Calls `shouldContinue` before each. */
  async run(target: Target, from: number, to: number, shouldContinue: () => boolean): Promise<void> {
    const mayContinue = () => shouldContinue() && this.#tally.failures.length < MAX_FAILURES;
    for (let first = from; first < to && mayContinue(); first += BATCH) {
      const end = Math.min(first + BATCH, to);
      let next = first;
      const sendAll = async () => {
        while (next < end && mayContinue()) await this.#send(target, next++);
      };
      await Promise.all(Array.from({ length: this.#generator.inFlight }, sendAll));
      const fault = mayContinue() ? await sendControlRequests(target) : undefined;
      if (fault !== undefined)
        this.#fail(`${this.name}:${first}-${end - 1}`, fault, "caused by one of these, or earlier");
    }
  }

  async #send(target: Target, index: number): Promise<void> {
    this.recent.add(index);
    const [oldest] = this.recent;
    if (oldest !== undefined && this.recent.size > 3 * this.#generator.inFlight) this.recent.delete(oldest);
    const input = this.#generator.make(createPrng(this.#seed, this.name, index));
    const { result, fault } = await input.send(target);
    const key = `${this.name} ${result}`;
    this.#tally.results.set(key, (this.#tally.results.get(key) ?? 0) + 1);
    this.#tally.sent++;
    if (fault !== undefined) this.#fail(`${this.name}:${index}`, fault, input.show());
  }

  #fail(input: string, fault: string, shown: string): void {
    this.#tally.failures.push({ input, fault, shown });
  }
}
