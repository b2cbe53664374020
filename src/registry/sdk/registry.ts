import type { ContextResult, FactoryResult, TransferFactoryResult } from "../../domain/choice-context.js";
import type { Contract } from "../../domain/contract.js";
import type { Claim } from "../../domain/errors.js";
import type { JsonObject } from "../../util/json.js";
import type { OnLedger } from "../../domain/ledger.js";
import type { Template } from "../../domain/template.js";
import type { View } from "../../state/port.js";
import type { Choice, Factory, IssuanceChoice, IssuanceFactory, IssuanceInstruction } from "../operation-names.js";
import type { History, RegistryLookup } from "./lookup.js";
import type { Recorder } from "./recorder.js";
import type { Check, InventoryOptions, Warning } from "./warnings.js";

export type * from "../../domain/choice-context.js";
export type { Contract } from "../../domain/contract.js";
export type { Claim } from "../../domain/errors.js";
export type { Choice, Factory, IssuanceChoice, IssuanceFactory, IssuanceInstruction } from "../operation-names.js";
export type * from "./lookup.js";
export type * from "./recorder.js";
export type * from "./warnings.js";

/**
 * The rules of one family of tokens. A registry answers queries from a View and knows nothing of HTTP, protobuf or SQL.
 * Every method is synchronous, free of side effects, and sees one state. It throws RegistryError if it has no answer:
 * "not-found" for a registrar that it does not serve.
 */
export interface Registry {
  readonly name: string;
  /** The templates that its rules use; contracts of others are not stored. */
  readonly templates: readonly Template[];
  /**
   * The APIs of the token standard that it serves, each with its minor version: see `tokenStandardApis`. The service adds the
   * packages without an HTTP side of each version that has one.
   */
  readonly supportedApis: SupportedApis;

  /** All instruments of a registrar, in any order, each id once. */
  instruments(context: RequestContext, registrar: string): readonly Instrument[];
  transferFactory(context: RequestContext, query: FactoryQuery): TransferFactoryResult;
  allocationFactory(context: RequestContext, query: FactoryQuery): FactoryResult;
  settlementFactory(context: RequestContext, query: FactoryQuery): FactoryResult;
  choiceContext(context: RequestContext, choice: Choice, query: ChoiceQuery): ContextResult;
  /** A summary of the stored contracts, for the start-up output and `offledger check`. */
  inventory(view: View, options: InventoryOptions): Inventory;

  /** What answers read from the ledger, see `RequestContext.onLedger`; absent if they read nothing. */
  readonly readById?: ReadById;
  /** Tells it the versions of packages by id, all that the participant has said. Called when more are known. */
  readonly learnPackages?: (versions: ReadonlyMap<string, string>) => void;
  /** The APIs of a registrar that supports not all of `supportedApis`. Called only for registrars that it serves. */
  readonly supportedApisOf?: (context: RequestContext, registrar: string) => SupportedApis;
  /** Whether requests may be about instruments of the registrar that are not listed; absent if none may. */
  readonly servesUnlisted?: (registrar: string) => boolean;
  /** The total supply of each instrument, in order; absent if it has none. Called only if holdings are counted. */
  readonly totalSupply?: (
    context: RequestContext,
    registrar: string,
    instruments: readonly Instrument[],
  ) => readonly (Supply | undefined)[];
  /**
   * What finds the warnings, a few contracts at a time: for `offledger check`, and in the background for the metrics.
   * Absent if the metrics have no warnings.
   */
  readonly checks?: readonly Check[];
  /** What operators look up beyond what requests need; absent if they see only contracts and the inventory. */
  readonly lookup?: RegistryLookup;
  /** The operations beyond the token standard; absent if it has none. */
  readonly utility?: UtilityOperations;
}

/** Minor versions by the names of APIs, such as `splice-api-token-metadata-v1`. */
export type SupportedApis = Readonly<Record<string, number>>;

/** Contracts that are not stored, or not all: those that an answer needs are read from the ledger, by their ids, before it. */
export interface ReadById {
  /** A contract of another template counts as unknown. */
  readonly templates: readonly Template[];
  /**
   * Names those that the answer to a request needs and the view lacks. The answer waits for them: as few as possible. It is then
   * given on the same state. Where this throws RegistryError nothing is read: the operation says what is wrong.
   */
  contractIds(view: View, request: OperationRequest): readonly string[];
}

/** A request for one of the operations. */
export type OperationRequest =
  | { readonly operation: Factory; readonly query: FactoryQuery }
  | { readonly operation: Choice | IssuanceChoice; readonly query: ChoiceQuery }
  | { readonly operation: IssuanceFactory; readonly query: IssuanceQuery };

/** The operations of the Registry Utility beyond the token standard. */
export interface UtilityOperations {
  /** The party that operates the registry's software. */
  operator(context: RequestContext): string;
  /** The configuration of one instrument, which is not in reassignment. */
  instrumentConfiguration(context: RequestContext, query: InstrumentQuery): Contract<InstrumentConfiguration>;
  /** All configurations that are not in reassignment. */
  instrumentConfigurations(context: RequestContext): readonly Contract<InstrumentConfiguration>[];
  /** The factory for creating an offer or a request to mint or burn. */
  issuanceFactory(context: RequestContext, instruction: IssuanceInstruction, query: IssuanceQuery): FactoryResult;
  burnMintFactory(context: RequestContext, query: IssuanceQuery): FactoryResult;
  /** The context of a choice on an offer or a request to mint or burn. */
  issuanceContext(context: RequestContext, choice: IssuanceChoice, query: ChoiceQuery): ContextResult;
  /** Rejects with "invalid", always with the same message, if the transfer cannot be verified. */
  transferProof(history: History, query: ProofQuery): Promise<ProofStatus>;
}

/** What a query is answered from. */
export interface RequestContext {
  /** The contracts at one ledger offset. */
  readonly view: View;
  /** The current time, in milliseconds since 1970. */
  readonly now: number;
  /**
   * What the ledger says of a contract that the view does not have and that `Registry.readById` has named for this request.
   * Undefined if it does not know it, or the source cannot read any; "unasked" beside requests, where nothing is asked.
   */
  onLedger<F>(template: Template<F>, contractId: string): OnLedger<F> | "unasked" | undefined;
  /**
   * Whether the view has all that the ledger had when the request came: then an id that it does not have is of no active
   * contract. The service waits until this is so before it passes on a "not-found" for such an id.
   */
  readonly hasReachedEnd: boolean;
  /**
   * Says that the answer may be another from each of these times on, in microseconds since 1970, although no contract
   * changes: clients keep it until the next. Read only if the client asks; times that are past are ignored.
   */
  mayChangeAt(times: Iterable<number>): void;
  /** Records how the answer is found; undefined unless the request is explained. */
  readonly recorder?: Recorder | undefined;
}

export interface FactoryQuery {
  readonly registrar: string;
  /** The arguments of the choice, as the JSON Ledger API encodes them. */
  readonly choiceArguments: JsonObject;
  /** The field of the request that had them, for messages; "choiceArguments" if it is absent. */
  readonly argumentsName?: string;
  /** The metadata for the choice, `extraArgs.meta` of its arguments, as it came; absent if there is none. */
  readonly meta?: JsonObject | undefined;
  /** The version of the token standard whose path, or service, was called; absent if that is not known. */
  readonly apiVersion?: ApiVersion | undefined;
}

/** A version of the token standard. */
export type ApiVersion = "v1" | "v2";

export interface ChoiceQuery {
  /** Undefined if the request names no registrar. */
  readonly registrar: string | undefined;
  readonly contractId: string;
  /** The metadata that the caller will pass to the choice, as it came; absent if the request has none. */
  readonly meta?: JsonObject | undefined;
  /** The version of the token standard whose path, or service, was called; absent for operations beyond the standard. */
  readonly apiVersion?: ApiVersion | undefined;
}

/** Asks for a factory for minting or burning. */
export interface IssuanceQuery {
  /** The admin of the instrument. */
  readonly registrar: string;
  readonly instrumentId: string;
  /** The parties whose holdings are minted or burned, as far as the request names them. */
  readonly holders: readonly string[];
  /** Contract ids of the holdings that are burned; empty, or absent, if the request names none. */
  readonly inputHoldings?: readonly string[];
}

export interface InstrumentQuery {
  readonly registrar: string;
  readonly identifier: InstrumentIdentifier;
}

export interface ProofQuery {
  /** The update that contains the transfer or its latest step, according to the caller. */
  readonly updateId: string;
  readonly transfer: TransferTerms;
}

export interface TransferTerms {
  readonly sender: string;
  readonly receiver: string;
  readonly amount: string;
  readonly instrumentId: { readonly admin: string; readonly id: string };
  /** RFC 3339, UTC; `executeBefore` too. */
  readonly requestedAt: string;
  readonly executeBefore: string;
  readonly inputHoldingCids: readonly string[];
  readonly meta: Readonly<Record<string, string>>;
}

export type ProofStatus = "Success" | "Failure" | "Pending";

export interface Inventory {
  readonly registrars: readonly {
    readonly party: string;
    /** The default identifier of each instrument that has a configuration. */
    readonly instruments: readonly InstrumentIdentifier[];
  }[];
  /** How many contracts of each template are stored. */
  readonly counts: readonly { readonly qualifiedName: string; readonly count: number }[];
  /**
   * The parties that contracts name as operator of the registry's software, who alone sees some of them; absent if the
   * registry has no such party.
   */
  readonly operators?: readonly string[] | undefined;
  /** Problems that will make requests fail, beside those that `checks` find: warnings, or a sentence each. */
  readonly warnings?: readonly (Warning | string)[] | undefined;
}

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
