import { type Basis, generationName } from "./basis.js";
import type { InputHolding } from "../domain/holdings.js";
import type { View } from "../store/port.js";
import type { Recorder, RequestContext } from "./sdk/registry.js";
import type { TrackingView } from "./tracking-view.js";

/** Makes the recorder of one run of a query, which may run several times. The basis is complete when the run has ended. */
export type CreateRecorder = (basis: Basis) => Recorder;

/** What has been found out for a query before it runs. */
export interface Preparation {
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

/** What a query is answered from, which is what its answer rests on. */
export class QueryContext implements RequestContext, Basis {
  readonly generation: string;
  readonly offset: number;
  readonly asOf: number | undefined;
  validUntil: number | undefined;
  readonly recorder: Recorder | undefined;
  readonly hasReachedEnd: boolean;
  readonly #holdings: Preparation["holdings"];

  /** `configurationId` and `createRecorder` as in QueryExecutor. */
  constructor(
    readonly view: TrackingView,
    readonly now: number,
    configurationId: string,
    { hasReachedEnd, holdings }: Preparation,
    createRecorder?: CreateRecorder,
  ) {
    this.hasReachedEnd = hasReachedEnd;
    this.#holdings = holdings;
    this.generation = generationName(view.generation, configurationId);
    this.offset = view.offset;
    this.asOf = view.time;
    this.recorder = createRecorder?.(this);
  }

  readHoldings(contractIds: readonly string[]): ReadonlyMap<string, InputHolding | "archived"> {
    if (this.#holdings === undefined) throw new HoldingsNeeded(contractIds);
    return this.#holdings;
  }

  mayChangeAt(micros: number): void {
    if (micros > this.now * 1000 && (this.validUntil === undefined || micros < this.validUntil))
      this.validUntil = micros;
  }

  tags(): readonly number[] | undefined {
    return this.view.tags();
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
