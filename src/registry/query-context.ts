import { type Basis, generationName } from "./basis.js";
import type { Recorder, RequestContext } from "./sdk/registry.js";
import type { TrackingView } from "./tracking-view.js";

/** Makes the recorder of one run of a query, which may run several times. The basis is complete when the run has ended. */
export type CreateRecorder = (basis: Basis) => Recorder;

/** What a query is answered from, which is what its answer rests on. */
export class QueryContext implements RequestContext, Basis {
  readonly generation: string;
  readonly offset: number;
  readonly asOf: number | undefined;
  validUntil: number | undefined;
  readonly recorder: Recorder | undefined;

  /** `configurationId` and `createRecorder` as in QueryExecutor. */
  constructor(
    readonly view: TrackingView,
    readonly now: number,
    configurationId: string,
    createRecorder?: CreateRecorder,
  ) {
    this.generation = generationName(view.generation, configurationId);
    this.offset = view.offset;
    this.asOf = view.time;
    this.recorder = createRecorder?.(this);
  }

  mayChangeAt(micros: number): void {
    if (micros > this.now * 1000 && (this.validUntil === undefined || micros < this.validUntil))
      this.validUntil = micros;
  }

  tags(): readonly number[] | undefined {
    return this.view.tags();
  }
}
