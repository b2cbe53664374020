import type { Contract } from "../domain/contract.js";
import type { OnLedger } from "../domain/ledger.js";
import { isOf, type Template } from "../domain/template.js";
import {
  idHash,
  indexKeyHash,
  type LookupHash,
  sumHash,
  tallyHash,
  type Tag,
  tagOf,
  templateHash,
} from "../state/lookup-hash.js";
import type { TemplateCount, View } from "../state/port.js";
import { ExplanationRecorder } from "./explanation.js";
import type { Recorder, RequestContext } from "../registry/sdk/registry.js";

export type { Tag } from "../state/lookup-hash.js";

/** Records how one request is answered. The last run of its query counts. */
export class Recording {
  #last: QueryRecorder | undefined;

  /** `explains`: whether to record the searches of the rules too. `now`: answers as at this time, in milliseconds since 1970. */
  constructor(
    readonly explains = false,
    readonly now?: number,
  ) {}

  /** The recorder of the last run; undefined if nothing was run on the store. */
  get last(): QueryRecorder | undefined {
    return this.#last;
  }

  /** Begins a run at `now`, in milliseconds since 1970. */
  begin(view: View, now: number): QueryRecorder {
    return (this.#last = new QueryRecorder(view, now, this.explains ? new ExplanationRecorder() : undefined));
  }
}

/** A view that records what one run of a query looks up, what it does not find, and for how long its answer holds. */
export class QueryRecorder implements View {
  readonly #view: View;
  readonly #nowMicros: number;
  readonly #tags = new Set<Tag>();
  readonly #missed: string[] = [];
  #isTagged = true;
  #validUntil: number | undefined;
  readonly generation: string;
  readonly offset: number;

  constructor(
    view: View,
    now: number,
    /** Undefined unless the request is explained. */
    readonly explanation: ExplanationRecorder | undefined,
  ) {
    this.#view = view;
    this.#nowMicros = now * 1000;
    this.generation = view.generation;
    this.offset = view.offset;
  }

  /** An answer that has the time of the latest update changes with every update. */
  get asOf(): number | undefined {
    this.#isTagged = false;
    return this.#view.asOf;
  }

  byId<F>(template: Template<F>, contractId: string): Contract<F> | undefined {
    this.#add(idHash(contractId));
    const found = this.#view.byId(template, contractId);
    if (found === undefined) this.#missed.push(contractId);
    return found;
  }

  byKey<F>(template: Template<F>, key: string): readonly Contract<F>[] {
    this.#add(indexKeyHash(key));
    return this.#view.byKey(template, key);
  }

  all<F>(template: Template<F>): readonly Contract<F>[] {
    this.#add(templateHash(template));
    return this.#view.all(template);
  }

  wasArchived(contractId: string, registrar?: string): boolean {
    this.#add(idHash(contractId));
    return this.#view.wasArchived(contractId, registrar);
  }

  templateCounts(): readonly TemplateCount[] {
    this.#isTagged = false;
    return this.#view.templateCounts();
  }

  tallied(group: string): readonly string[] {
    this.#add(tallyHash(group));
    return this.#view.tallied(group);
  }

  sums(names: readonly string[]): readonly bigint[] {
    for (const name of names) this.#add(sumHash(name));
    return this.#view.sums(names);
  }

  /** An answer that has what is not mirrored may change although no lookup does. */
  dependsOnLedger(): void {
    this.#isTagged = false;
  }

  mayChangeAt(times: Iterable<number>): void {
    for (const micros of times) {
      if (micros > this.#nowMicros && (this.#validUntil === undefined || micros < this.#validUntil))
        this.#validUntil = micros;
    }
  }

  /** The answer may be another from this time on, in microseconds since 1970; undefined if time does not change it. */
  get validUntil(): number | undefined {
    return this.#validUntil;
  }

  /**
   * The tags of the lookups: the answer stays the same until one of them changes, or `validUntil`. Undefined if it depends
   * on more than lookups, such as the time of the latest update.
   */
  get tags(): ReadonlySet<Tag> | undefined {
    return this.#isTagged ? this.#tags : undefined;
  }

  /** Whether a contract was not found that the ledger may have: an archived one it does not. Only until the state moves on. */
  missedUnarchived(): boolean {
    return this.#missed.some((contractId) => !this.#view.wasArchived(contractId));
  }

  #add(lookup: LookupHash): void {
    this.#tags.add(tagOf(lookup));
  }
}

/** What has been found out for a query before it runs. */
export interface Preparation {
  /** Milliseconds since 1970. */
  readonly now: number;
  /** As in RequestContext. */
  readonly hasReachedEnd: boolean;
  /**
   * What the ledger says of each contract that the query has named, by contract id; undefined of one that it does not know.
   * Undefined if the source cannot read any.
   */
  readonly onLedger: ReadonlyMap<string, OnLedger | undefined> | undefined;
}

/** What one run of a query is answered from. */
export class QueryContext implements RequestContext {
  readonly view: View;
  readonly now: number;
  readonly hasReachedEnd: boolean;
  readonly #onLedger: Preparation["onLedger"];
  readonly #recorder: QueryRecorder | undefined;

  /** `recorder` is undefined if nothing is recorded. */
  constructor(view: View, { now, hasReachedEnd, onLedger }: Preparation, recorder: QueryRecorder | undefined) {
    this.view = recorder ?? view;
    this.now = now;
    this.hasReachedEnd = hasReachedEnd;
    this.#onLedger = onLedger;
    this.#recorder = recorder;
  }

  get recorder(): Recorder | undefined {
    return this.#recorder?.explanation;
  }

  onLedger<F>(template: Template<F>, contractId: string): OnLedger<F> | undefined {
    const known = this.#onLedger;
    if (known === undefined) return undefined;
    if (!known.has(contractId))
      throw new Error(`contract ${contractId} was not read: Registry.readById did not name it for this request`);
    if (template.isReadById === true) this.#recorder?.dependsOnLedger();
    const told = known.get(contractId);
    if (typeof told === "object" && !isOf(told.template, template)) return undefined;
    // Its fields are those of its template.
    return told as OnLedger<F> | undefined;
  }

  mayChangeAt(times: Iterable<number>): void {
    this.#recorder?.mayChangeAt(times);
  }
}
