/** What the rules need of a holding. */
export interface HoldingFields {
  readonly owner: string;
  readonly operator: string;
  readonly provider: string;
  readonly registrar: string;
  readonly instrumentId: string;
}

/** A holding that a request names as an input. */
export interface InputHolding extends HoldingFields {
  readonly contractId: string;
}

/** Reads holdings from the ledger by contract id: most are not stored, there can be millions. */
export interface HoldingSource {
  /**
   * Reads the first 100 of the contract ids. The map lacks those that are unknown, are no holdings, or could not be read
   * within the wait of read-your-writes. Never rejects.
   */
  holdings(contractIds: readonly string[]): Promise<ReadonlyMap<string, InputHolding | "archived">>;
}
