import { Budget } from "./budget.js";

/** A connection that holds responses which its client has not taken. */
export interface Holder {
  /** When the client last took a response, or was given the first; as `performance.now()`. */
  readonly progressAt: number;
  destroy(): void;
}

/** A client that takes nothing for so long is stalled. */
const STALLED_MS = 5_000;
const SEARCH_MS = 500;

/** The budget for responses. When it is used up, connections whose clients take nothing are closed. */
export class ResponseBudget extends Budget {
  readonly #holders = new Set<Holder>();
  #searchedAt = -Infinity;

  hold(holder: Holder): void {
    this.#holders.add(holder);
  }

  unhold(holder: Holder): void {
    this.#holders.delete(holder);
  }

  override refuses(reserve = 0): boolean {
    if (!super.refuses(reserve)) return false;
    this.#closeStalled(performance.now());
    return true;
  }

  #closeStalled(now: number): void {
    if (now - this.#searchedAt < SEARCH_MS) return;
    this.#searchedAt = now;
    for (const holder of this.#holders) if (now - holder.progressAt > STALLED_MS) holder.destroy();
  }
}
