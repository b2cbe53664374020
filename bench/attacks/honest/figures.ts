/** What the honest caller saw in one phase. */
import { percentile } from "../../report/row.js";

export type PhaseName = "quiet" | "attack" | "after";

export interface Figures {
  readonly requests: number;
  readonly ok: number;
  /** Of the responses with status 200, in milliseconds; null without any. */
  readonly p50: number | null;
  readonly p99: number | null;
  /** Other results and how often: a status, or the code of an error. */
  readonly failures: Readonly<Record<string, number>>;
  readonly livezProbes: number;
  readonly livezFailures: number;
}

export class Phase {
  readonly #latencies: number[] = [];
  readonly #failures: Record<string, number> = {};
  #requests = 0;
  #livezProbes = 0;
  #livezFailures = 0;

  add(result: string, milliseconds: number): void {
    this.#requests++;
    if (result === "200") this.#latencies.push(milliseconds);
    else this.#failures[result] = (this.#failures[result] ?? 0) + 1;
  }

  addProbe(result: string): void {
    this.#livezProbes++;
    if (result !== "200") this.#livezFailures++;
  }

  figures(): Figures {
    return {
      requests: this.#requests,
      ok: this.#latencies.length,
      p50: this.#percentile(0.5),
      p99: this.#percentile(0.99),
      failures: this.#failures,
      livezProbes: this.#livezProbes,
      livezFailures: this.#livezFailures,
    };
  }

  #percentile(part: number): number | null {
    return this.#latencies.length === 0 ? null : percentile(this.#latencies, part);
  }
}
