/** Instruments as a registry knows them. */

/** An instrument as the ledger tells of it. What the ledger does not tell is undefined. */
export interface Instrument {
  /** The id by which holdings and transfers name it. */
  readonly id: string;
  /** Further ids by which it can be asked for. */
  readonly otherIds: readonly string[];
  readonly name?: string | undefined;
  readonly symbol?: string | undefined;
  /** 0 to 10. */
  readonly decimals?: number | undefined;
  readonly description?: string | undefined;
}

/** All that was made of an instrument and not taken back. */
export interface Supply {
  /** A decimal with ten places. */
  readonly total: string;
  /** Time on the ledger up to which it counts, in microseconds since 1970. */
  readonly asOf: number;
}

/** One name of an instrument. */
export interface InstrumentIdentifier {
  readonly source: string;
  readonly id: string;
  readonly scheme: string;
}

/** What an instrument's configuration says. */
export interface InstrumentConfiguration {
  readonly operator: string;
  readonly provider: string;
  readonly registrar: string;
  readonly defaultIdentifier: InstrumentIdentifier;
  readonly additionalIdentifiers: readonly InstrumentIdentifier[];
  /** What a party needs to mint or burn. */
  readonly issuerRequirements: readonly Requirement[];
  /** What a party needs to send or receive. */
  readonly holderRequirements: readonly Requirement[];
}

/** Claims that a party has to have from one issuer of credentials. */
export interface Requirement {
  readonly issuer: string;
  readonly requiredClaims: readonly Claim[];
}

export interface Claim {
  readonly property: string;
  readonly value: string;
}
