import type { Contract, Kind, View } from "../store/store.js";
import type { ContextAnswer, FactoryAnswer, Inventory, ProofStatus, TransferFactoryAnswer } from "./answers.js";
import type { History } from "./history.js";
import type { Instrument, InstrumentConfiguration, Supply } from "./instruments.js";
import type {
  Choice,
  ChoiceQuestion,
  FactoryQuestion,
  InstrumentQuestion,
  IssuanceChoice,
  IssuanceQuestion,
  ProofQuestion,
} from "./questions.js";

export type { Contract } from "../store/store.js";
export type * from "./answers.js";
export type * from "./instruments.js";
export type * from "./questions.js";

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
  readonly kinds: readonly Kind[];
  /** The parts of the token standard that it serves, by the name of the API, with the minor version. */
  readonly supportedApis: Readonly<Record<string, number>>;

  /** Every instrument of a registrar, in any order, each id once. */
  instruments(scene: Scene, registrar: string): readonly Instrument[];
  /** The factory of a transfer, and how the transfer will go. */
  transferFactory(scene: Scene, question: FactoryQuestion): TransferFactoryAnswer;
  /** The factory of an allocation. */
  allocationFactory(scene: Scene, question: FactoryQuestion): FactoryAnswer;
  /** The factory of a settlement of many allocations. */
  settlementFactory(scene: Scene, question: FactoryQuestion): FactoryAnswer;
  /** The context of a choice on one contract, by the name of the choice. */
  choiceContext(scene: Scene, choice: Choice, question: ChoiceQuestion): ContextAnswer;
  /** What the contracts held amount to: for the operator, at start and in `offledger check`. */
  inventory(view: View): Inventory;

  /** The total supply of instruments, in their order. Asked only where holdings are counted; absent where the registry has no such sum. */
  readonly totalSupply?: (
    scene: Scene,
    registrar: string,
    instruments: readonly Instrument[],
  ) => readonly (Supply | undefined)[];
  /** The operations beyond the token standard; absent where it has none. */
  readonly utility?: UtilityOperations;
}

/** What the Registry Utility offers beyond the token standard. */
export interface UtilityOperations {
  /** The party that runs the registry's software. */
  operator(scene: Scene): string;
  /** The configuration of one instrument. The contract is active on a synchronizer. */
  instrumentConfiguration(scene: Scene, question: InstrumentQuestion): Contract<InstrumentConfiguration>;
  /** All configurations that are active on a synchronizer. */
  instrumentConfigurations(scene: Scene): readonly Contract<InstrumentConfiguration>[];
  /** The factory for making an offer or a request to mint or burn. */
  issuanceFactory(scene: Scene, question: IssuanceQuestion): FactoryAnswer;
  /** The factory for burning and minting at once. */
  burnMintFactory(scene: Scene, question: IssuanceQuestion): FactoryAnswer;
  /** The context of a choice on an offer or a request to mint or burn. */
  issuanceContext(scene: Scene, choice: IssuanceChoice, question: ChoiceQuestion): ContextAnswer;
  /** What became of a transfer in an update. */
  transferProof(history: History, question: ProofQuestion): Promise<ProofStatus>;
}

/** The moment in which a question is asked. */
export interface Scene {
  /** The contracts, all of one offset. */
  readonly view: View;
  /** Milliseconds since 1970: what "valid now" is measured against. */
  readonly now: number;
}
