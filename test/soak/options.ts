export interface SoakOptions {
  readonly seed: number;
  readonly milliseconds: number;
  /** The part of it before memory is sampled. */
  readonly warmUpMs: number;
  readonly rate: number;
  readonly faultIntervalMs: number;
  readonly maxSilenceMs: number;
  /** Archivals during the warm-up. The service remembers the last 100,000. */
  readonly archivals: number;
  /** Makes the model differ from the ledger, to test that the oracle reports it. */
  readonly isModelWrong?: boolean;
  readonly print: (line: string) => void;
}
