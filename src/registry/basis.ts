/** The state of the store that an answer rests on. */
export interface Basis {
  /** The snapshot of the state, and the configuration of the service. Offsets of others are not comparable. */
  readonly generation: string;
  readonly offset: number;
  /** Ledger time of the state, in microseconds since 1970; undefined if the source gave none. */
  readonly asOf: number | undefined;
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
