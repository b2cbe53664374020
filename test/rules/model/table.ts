/** The table of operations of the specification, and which outcomes each operation can have. */
import type { InstructionTemplate } from "./instructions.js";
import type { IssuanceOperation, Operation, Settings } from "./requests.js";

export type EntryName =
  | "instrument-configuration"
  | "instrument-configurations"
  | "sender-credentials"
  | "receiver-credentials"
  | "issuer-credentials"
  | "holder-credentials"
  | "transfer-rule"
  | "enable-result-contracts"
  | "app-reward-configuration"
  | "featured-app-right";

export interface ContextRow {
  /** In the order of the table. */
  readonly entries: readonly EntryName[];
  /** "Reject, withdraw and cancel must always be possible": nothing is required, and a blocklist is no obstacle. */
  readonly isExit?: boolean;
  /** A transfer to oneself: nothing is required, and what is elsewhere or in reassignment is left out. */
  readonly isSelf?: boolean;
  /** Whether the locked holding is required. The receiver of an offer sees it. */
  readonly needsHolding?: boolean;
  /** Whether the setting for rewards adds its two entries. */
  readonly rewards?: boolean;
}

const executed: readonly EntryName[] = [
  "instrument-configuration",
  "sender-credentials",
  "receiver-credentials",
  "transfer-rule",
];
const transferAccept: ContextRow = { entries: [...executed, "enable-result-contracts"], rewards: true };
const created: ContextRow = { entries: ["instrument-configuration", "sender-credentials"] };
const noEntries: ContextRow = { entries: [], isExit: true };
const rejected: ContextRow = { entries: ["enable-result-contracts"], isExit: true };
const issuanceCreate: ContextRow = { entries: ["instrument-configuration", "issuer-credentials"] };
const issuanceAccept: ContextRow = {
  entries: [...issuanceCreate.entries, "enable-result-contracts"],
  needsHolding: true,
  rewards: true,
};

/** The operations whose extra disclosure is the factory; a settlement also discloses allocations and their holdings. */
export const factoryContexts = {
  "transfer-factory/offer": created,
  "transfer-factory/direct": transferAccept,
  "transfer-factory/self": { ...transferAccept, isSelf: true },
  "allocation-factory": created,
  "settlement-factory": {
    entries: [
      "transfer-rule",
      "instrument-configurations",
      "instrument-configuration",
      "holder-credentials",
      "enable-result-contracts",
    ],
    needsHolding: true,
    rewards: true,
  },
  "mint-offer/create": issuanceCreate,
  "mint-request/create": issuanceCreate,
  "burn-offer/create": issuanceCreate,
  "burn-request/create": issuanceCreate,
  "burn-mint-factory": { ...issuanceCreate, rewards: true },
} as const satisfies Record<string, ContextRow>;

interface ChoiceRow extends ContextRow {
  readonly template: InstructionTemplate;
}

/** The operations on one instruction. The extra disclosure is its locked holding, if it has one. */
export const choiceContexts = {
  "transfer-instruction/accept": { template: "TransferOffer", ...transferAccept },
  "transfer-instruction/reject": { template: "TransferOffer", ...rejected },
  "transfer-instruction/withdraw": { template: "TransferOffer", ...noEntries },
  "allocation/execute-transfer": {
    template: "DvpLegAllocation",
    entries: executed,
    needsHolding: true,
    rewards: true,
  },
  "allocation/withdraw": { template: "DvpLegAllocation", ...noEntries },
  "allocation/cancel": { template: "DvpLegAllocation", ...noEntries },
  "mint-offer/accept": { template: "MintOffer", ...issuanceAccept },
  "mint-offer/reject": { template: "MintOffer", ...rejected },
  "mint-offer/cancel": { template: "MintOffer", ...noEntries },
  "mint-request/accept": { template: "MintRequest", ...issuanceAccept },
  "mint-request/reject": { template: "MintRequest", ...rejected },
  "mint-request/cancel": { template: "MintRequest", ...noEntries },
  "burn-offer/accept": { template: "BurnOffer", ...issuanceAccept },
  "burn-offer/reject": { template: "BurnOffer", ...rejected },
  "burn-offer/cancel": { template: "BurnOffer", ...noEntries },
  "burn-request/accept": { template: "BurnRequest", ...issuanceAccept },
  "burn-request/reject": { template: "BurnRequest", ...rejected },
  "burn-request/cancel": { template: "BurnRequest", ...noEntries },
} as const satisfies Record<string, ChoiceRow>;

export type FactoryContext = keyof typeof factoryContexts;
export type InstructionChoice = keyof typeof choiceContexts;

export class Outcomes {
  readonly #seen = new Map<Operation, Set<string>>();

  add(operation: Operation, outcome: string): void {
    this.#seen.set(operation, new Set(this.#seen.get(operation)).add(outcome));
  }

  /** Sorted, by operation. */
  toObject(): Readonly<Record<string, readonly string[]>> {
    return Object.fromEntries([...this.#seen].map(([operation, outcomes]) => [operation, sorted(outcomes)]));
  }
}

const sorted = (texts: Iterable<string>): string[] => [...texts].toSorted((a, b) => (a < b ? -1 : 1));

const issuances: readonly IssuanceOperation[] = [
  "mint-offer/create",
  "mint-request/create",
  "burn-offer/create",
  "burn-request/create",
  "burn-mint-factory",
];

/** In the form of `toObject`. */
export function possibleOutcomes({ blocklist }: Settings): Readonly<Record<string, readonly string[]>> {
  // Without choice arguments only an instrument that checks an unknown blocklist is 400.
  const withoutArguments = blocklist ? ["200", "404", "409"] : ["200", "400", "404", "409"];
  const choices = Object.keys(choiceContexts) as InstructionChoice[];
  return {
    "transfer-factory": ["400", "404", "409", "direct", "offer", "self"],
    "allocation-factory": ["200", "400", "404", "409"],
    "settlement-factory": ["200", "400", "404", "409"],
    ...Object.fromEntries(issuances.map((operation) => [operation, withoutArguments])),
    ...Object.fromEntries(choices.map((choice) => [choice, isExit(choice) ? ["200", "404", "409"] : withoutArguments])),
    "allocation-instruction/accept": ["400", "404"],
    "allocation-instruction/withdraw": ["400", "404"],
    "instrument-configuration": ["200", "404", "409"],
    instruments: ["200", "404"],
    "supported-apis": ["200", "404"],
    "instrument-configurations": ["200"],
    operator: ["200", "404"],
  };
}

const isExit = (choice: InstructionChoice): boolean => (choiceContexts[choice] as ContextRow).isExit === true;
