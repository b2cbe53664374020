/** What a soak is to be like. */
export interface SoakOptions {
  readonly seed: number;
  readonly milliseconds: number;
  /** How much of it is before memory is looked at. */
  readonly warmUpMs: number;
  /** Requests a second. */
  readonly rate: number;
  /** From one cut to the next, on average, in milliseconds. */
  readonly cutEveryMs: number;
  readonly longestSilenceMs: number;
  /** How many archivals the service is made to remember in the warm-up: from a hundred thousand on it forgets the oldest. */
  readonly archivals: number;
  /** Has the model be wrong, to see that it is noticed. */
  readonly isMistaken?: boolean;
  readonly say: (line: string) => void;
}
