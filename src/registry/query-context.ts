import type { Tag } from "../store/lookup-hash.js";
import { type Basis, generationName } from "./basis.js";
import type { Recorder, RequestContext } from "./sdk/registry.js";
import type { TrackingView } from "./tracking-view.js";

/** What a query is answered from, which is what its answer rests on. */
export class QueryContext implements RequestContext, Basis {
  readonly generation: string;
  readonly offset: number;
  readonly asOf: number | undefined;
  validUntil: number | undefined;

  /** `configurationId` as in QueryExecutor. */
  constructor(
    readonly view: TrackingView,
    readonly now: number,
    configurationId: string,
    readonly recorder: Recorder | undefined = undefined,
  ) {
    this.generation = generationName(view.generation, configurationId);
    this.offset = view.offset;
    this.asOf = view.time;
  }

  mayChangeAt(micros: number): void {
    if (micros > this.now * 1000 && (this.validUntil === undefined || micros < this.validUntil))
      this.validUntil = micros;
  }

  tags(): readonly Tag[] | undefined {
    return this.view.tags();
  }
}
