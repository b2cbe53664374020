import type { Contract } from "../../domain/contract.js";
import type { HoldingFields, InputHolding } from "../../domain/ledger.js";
import type { Template } from "../../domain/template.js";
import type { View } from "../../store/port.js";
import type { ContextAnswer, FactoryAnswer, Inventory, ProofStatus, TransferFactoryAnswer } from "./answers.js";
import type { History, RegistryLookup } from "./lookup.js";
import type { Recorder } from "./recorder.js";
import type { Instrument, InstrumentConfiguration, Supply } from "./instruments.js";
import type {
  Choice,
  ChoiceQuery,
  FactoryQuery,
  InstrumentQuery,
  IssuanceChoice,
  IssuanceInstruction,
  IssuanceQuery,
  ProofQuery,
} from "./queries.js";
import type { Check, InventoryOptions } from "./warnings.js";

export type { Contract } from "../../domain/contract.js";
export type * from "./answers.js";
export type * from "./instruments.js";
export type * from "./lookup.js";
export type * from "./queries.js";
export type * from "./recorder.js";
export type * from "./warnings.js";

/**
 * The rules of one family of tokens. A registry answers queries from a View and knows nothing of HTTP, protobuf or SQL.
 * Every method is synchronous and free of side effects. A store that has to fetch contracts runs it several times: what it
 * lacks is not found, until it has been fetched, and only the last run counts. So a method looks up early what a request
 * names, ends where nothing is found, keeps nothing between runs, and catches RegistryError alone. It throws
 * RegistryError if it has no answer: "not-found" for a registrar that it does not serve.
 */
export interface Registry {
  readonly name: string;
  /** The templates that its rules use; contracts of others are not stored. */
  readonly templates: readonly Template[];
  /** The APIs of the token standard that it serves, each with its minor version. */
  readonly supportedApis: SupportedApis;

  /** All instruments of a registrar, in any order, each id once. */
  instruments(context: RequestContext, registrar: string): readonly Instrument[];
  transferFactory(context: RequestContext, query: FactoryQuery): TransferFactoryAnswer;
  allocationFactory(context: RequestContext, query: FactoryQuery): FactoryAnswer;
  settlementFactory(context: RequestContext, query: FactoryQuery): FactoryAnswer;
  choiceContext(context: RequestContext, choice: Choice, query: ChoiceQuery): ContextAnswer;
  /** A summary of the stored contracts with its warnings, for the start-up output and `offledger check`. */
  inventory(view: View, options: InventoryOptions): Inventory;

  /** The template of holdings, if answers depend on input holdings. The service reads these from the ledger by id. */
  readonly holding?: Template<HoldingFields>;
  /** Tells it the versions of packages by id, all that the participant has said. Called when more are known. */
  readonly learnPackages?: (versions: ReadonlyMap<string, string>) => void;
  /** The APIs of a registrar that supports not all of `supportedApis`. Called only for registrars that it serves. */
  readonly supportedApisOf?: (context: RequestContext, registrar: string) => SupportedApis;
  /** The total supply of each instrument, in order; absent if it has none. Called only if holdings are counted. */
  readonly totalSupply?: (
    context: RequestContext,
    registrar: string,
    instruments: readonly Instrument[],
  ) => readonly (Supply | undefined)[];
  /**
   * The checks behind the warnings of `inventory`, which the service also runs in the background, a few contracts at a
   * time, for its metrics. Absent if the metrics have no warnings.
   */
  readonly checks?: readonly Check[];
  /** What operators look up beyond what requests need; absent if they see only contracts and the inventory. */
  readonly lookup?: RegistryLookup;
  /** The operations beyond the token standard; absent if it has none. */
  readonly utility?: UtilityOperations;
}

/** Minor versions by the names of APIs, such as `splice-api-token-metadata-v1`. */
export type SupportedApis = Readonly<Record<string, number>>;

/** The operations of the Registry Utility beyond the token standard. */
export interface UtilityOperations {
  /** The party that operates the registry's software. */
  operator(context: RequestContext): string;
  /** The configuration of one instrument, which is not in reassignment. */
  instrumentConfiguration(context: RequestContext, query: InstrumentQuery): Contract<InstrumentConfiguration>;
  /** All configurations that are not in reassignment. */
  instrumentConfigurations(context: RequestContext): readonly Contract<InstrumentConfiguration>[];
  /** The factory for creating an offer or a request to mint or burn. */
  issuanceFactory(context: RequestContext, instruction: IssuanceInstruction, query: IssuanceQuery): FactoryAnswer;
  burnMintFactory(context: RequestContext, query: IssuanceQuery): FactoryAnswer;
  /** The context of a choice on an offer or a request to mint or burn. */
  issuanceContext(context: RequestContext, choice: IssuanceChoice, query: ChoiceQuery): ContextAnswer;
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
   * Reads holdings by contract id from the ledger, where the source can; at most 100. For holdings that a request names and
   * the store does not keep. One that cannot be read, or that the ledger does not know, is absent. The first call aborts the
   * method, which runs again when they are read.
   */
  readHoldings(contractIds: readonly string[]): ReadonlyMap<string, InputHolding | "archived">;
  /**
   * Whether the view has all that the ledger had when the request came: then an id that it does not have is of no active
   * contract. A method that throws "not-found" for such an id is run again until this is so.
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
