import type { InputHolding } from "../domain/ledger.js";
import type { View } from "../store/port.js";
import type { QueryRecorder } from "./recorder.js";
import type { Recorder, RequestContext } from "./sdk/registry.js";

/** What has been found out for a query before it runs. */
export interface Preparation {
  /** Milliseconds since 1970. */
  readonly now: number;
  /** As in RequestContext. */
  readonly hasReachedEnd: boolean;
  /** The holdings that were read from the ledger; undefined if none were. */
  readonly holdings: ReadonlyMap<string, InputHolding | "archived"> | undefined;
}

/** Thrown by a query that needs holdings which have not been read: it is run again with them. */
export class HoldingsNeeded extends Error {
  constructor(readonly contractIds: readonly string[]) {
    super("the query needs holdings that have not been read from the ledger");
    this.name = "HoldingsNeeded";
  }
}

/** What one run of a query is answered from. */
export class QueryContext implements RequestContext {
  readonly view: View;
  readonly now: number;
  readonly hasReachedEnd: boolean;
  readonly #holdings: Preparation["holdings"];
  readonly #recorder: QueryRecorder | undefined;

  /** `recorder` is undefined if nothing is recorded. */
  constructor(view: View, { now, hasReachedEnd, holdings }: Preparation, recorder: QueryRecorder | undefined) {
    this.view = recorder ?? view;
    this.now = now;
    this.hasReachedEnd = hasReachedEnd;
    this.#holdings = holdings;
    this.#recorder = recorder;
  }

  get recorder(): Recorder | undefined {
    return this.#recorder?.explanation;
  }

  readHoldings(contractIds: readonly string[]): ReadonlyMap<string, InputHolding | "archived"> {
    if (this.#holdings === undefined) throw new HoldingsNeeded(contractIds);
    return this.#holdings;
  }

  mayChangeAt(times: Iterable<number>): void {
    this.#recorder?.mayChangeAt(times);
  }
}

/** For rules that run beside requests: nothing is read from the ledger, and what is not in the store does not exist. */
export const backgroundContext = (view: View, now: number): RequestContext => ({
  view,
  now,
  hasReachedEnd: true,
  readHoldings: () => new Map(),
  mayChangeAt: () => undefined,
});
