/** An instrument on the ledger. Fields that the ledger does not have are undefined. */
export interface Instrument {
  /** The id that holdings and transfers use. */
  readonly id: string;
  /** Other ids under which it can be requested. */
  readonly otherIds: readonly string[];
  readonly name?: string | undefined;
  readonly symbol?: string | undefined;
  /** 0 to 10. */
  readonly decimals?: number | undefined;
  readonly description?: string | undefined;
  /** Whether its registrar has paused it. */
  readonly paused?: boolean | undefined;
}

/** The total supply of an instrument: everything minted and not burned. */
export interface Supply {
  readonly total: string;
  /** Ledger time of the latest counted update, in microseconds since 1970. */
  readonly asOf: number;
}

export interface InstrumentIdentifier {
  readonly source: string;
  readonly id: string;
  readonly scheme: string;
}

export interface InstrumentConfiguration {
  readonly operator: string;
  readonly provider: string;
  readonly registrar: string;
  readonly defaultIdentifier: InstrumentIdentifier;
  readonly additionalIdentifiers: readonly InstrumentIdentifier[];
  readonly issuerRequirements: readonly Requirement[];
  readonly holderRequirements: readonly Requirement[];
  /** Whether the registrar has paused the instrument. */
  readonly paused: boolean;
  /** Whether choices on the instrument check a blocklist. */
  readonly checkBlocklist: boolean;
}

/** Claims that a party needs in credentials of one issuer. */
export interface Requirement {
  readonly issuer: string;
  readonly requiredClaims: readonly Claim[];
}

export interface Claim {
  readonly property: string;
  readonly value: string;
}
