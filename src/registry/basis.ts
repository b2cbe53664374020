/** What an answer rests on: a state of the store, the lookups made in it, and the time. */
export interface Basis {
  /** The snapshot of the state, and the configuration of the service. Offsets of others are not comparable. */
  readonly generation: string;
  readonly offset: number;
  /** Ledger time of the state, in microseconds since 1970; undefined if the source gave none. */
  readonly asOf: number | undefined;
  /** The answer may be another from this time on, in microseconds since 1970; undefined if time does not change it. */
  readonly validUntil: number | undefined;
  /**
   * The tags of the lookups, some more than once, as signed 32-bit integers: the answer stays the same until one of
   * them changes, or `validUntil`. Undefined if it depends on more than lookups, such as the time of the latest update.
   */
  tags(): readonly number[] | undefined;
}

/** Answers are comparable if state and configuration are the same. */
export const generationName = (generation: string, configurationId: string): string =>
  configurationId === "" ? generation : `${generation}.${configurationId}`;

/** The result of a query with what it rests on. */
export class Answer<T> {
  constructor(
    readonly value: T,
    readonly basis: Basis,
  ) {}

  /** The answer with a result made of this one. `convert` must depend on nothing else. */
  convert<U>(convert: (value: T) => U): Answer<U> {
    return new Answer(convert(this.value), this.basis);
  }
}
