import type { Contract } from "../../domain/contract.js";
import type { Template } from "../../domain/template.js";
import type { View } from "../../store/port.js";
import type { ContextAnswer, FactoryAnswer, Inventory, ProofStatus, TransferFactoryAnswer } from "./answers.js";
import type { History } from "./history.js";
import type { Instrument, InstrumentConfiguration, Supply } from "./instruments.js";
import type {
  Choice,
  ChoiceQuery,
  FactoryQuery,
  InstrumentQuery,
  IssuanceChoice,
  IssuanceQuery,
  ProofQuery,
} from "./queries.js";

export type { Contract } from "../../domain/contract.js";
export type * from "./answers.js";
export type * from "./instruments.js";
export type * from "./queries.js";

/**
 * What a registry implements: the rules of one family of tokens. It reads a
 * View and answers; it knows nothing of HTTP, protobuf or SQL. Every method
 * throws RegistryError (errors.ts) where there is no answer: "not-found" for a
 * registrar that it does not serve. Methods answer at once and have no effects:
 * a store that has to fetch what they look for runs them again. What else is
 * thrown they let pass. docs/your-own-registry.md builds one from an empty file.
 */
export interface Registry {
  /** The name by which logs and the start-up text call it. */
  readonly name: string;
  /** Every kind of contract that its rules ask for; no other is kept. */
  readonly templates: readonly Template[];
  /** The parts of the token standard that it serves, by the name of the API, with the minor version. */
  readonly supportedApis: Readonly<Record<string, number>>;

  /** Every instrument of a registrar, in any order, each id once. */
  instruments(context: RequestContext, registrar: string): readonly Instrument[];
  /** The factory of a transfer, and how the transfer will go. */
  transferFactory(context: RequestContext, query: FactoryQuery): TransferFactoryAnswer;
  /** The factory of an allocation. */
  allocationFactory(context: RequestContext, query: FactoryQuery): FactoryAnswer;
  /** The factory of a settlement of many allocations. */
  settlementFactory(context: RequestContext, query: FactoryQuery): FactoryAnswer;
  /** The context of a choice on one contract, by the name of the choice. */
  choiceContext(context: RequestContext, choice: Choice, query: ChoiceQuery): ContextAnswer;
  /** What the contracts held amount to: for the operator, at start and in `offledger check`. */
  inventory(view: View): Inventory;

  /** The total supply of instruments, in their order. Asked only where holdings are counted; absent where the registry has no such sum. */
  readonly totalSupply?: (
    context: RequestContext,
    registrar: string,
    instruments: readonly Instrument[],
  ) => readonly (Supply | undefined)[];
  /** The operations beyond the token standard; absent where it has none. */
  readonly utility?: UtilityOperations;
}

/** What the Registry Utility offers beyond the token standard. */
export interface UtilityOperations {
  /** The party that runs the registry's software. */
  operator(context: RequestContext): string;
  /** The configuration of one instrument. The contract is active on a synchronizer. */
  instrumentConfiguration(context: RequestContext, query: InstrumentQuery): Contract<InstrumentConfiguration>;
  /** All configurations that are active on a synchronizer. */
  instrumentConfigurations(context: RequestContext): readonly Contract<InstrumentConfiguration>[];
  /** The factory for making an offer or a request to mint or burn. */
  issuanceFactory(context: RequestContext, query: IssuanceQuery): FactoryAnswer;
  /** The factory for burning and minting at once. */
  burnMintFactory(context: RequestContext, query: IssuanceQuery): FactoryAnswer;
  /** The context of a choice on an offer or a request to mint or burn. */
  issuanceContext(context: RequestContext, choice: IssuanceChoice, query: ChoiceQuery): ContextAnswer;
  /** What became of a transfer in an update. */
  transferProof(history: History, query: ProofQuery): Promise<ProofStatus>;
}

/** The moment in which a question is asked. */
export interface RequestContext {
  /** The contracts, all of one offset. */
  readonly view: View;
  /** Milliseconds since 1970: what "valid now" is measured against. */
  readonly now: number;
}
