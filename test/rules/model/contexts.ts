/** The table of operations of the specification: the entries and the extra disclosures of each. */
import type { InstructionTemplate } from "./instructions.js";

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
  /** Every entry but `enable-result-contracts` stands a second time under its bare name. */
  readonly bareNames?: boolean;
  /** Whether the setting for rewards adds its two entries. */
  readonly rewards?: boolean;
}

const transferAccept: ContextRow = {
  entries: [
    "instrument-configuration",
    "sender-credentials",
    "receiver-credentials",
    "transfer-rule",
    "enable-result-contracts",
  ],
  bareNames: true,
  rewards: true,
};
const transferExit: ContextRow = {
  entries: ["instrument-configuration", "enable-result-contracts"],
  bareNames: true,
  isExit: true,
};
const allocationExit: ContextRow = { entries: ["enable-result-contracts"], isExit: true };
const issuanceCreate: ContextRow = { entries: ["instrument-configuration", "issuer-credentials"] };
const issuanceAccept: ContextRow = {
  entries: ["instrument-configuration", "issuer-credentials", "enable-result-contracts"],
  rewards: true,
};
const issuanceReject: ContextRow = { entries: ["enable-result-contracts"], isExit: true };
const issuanceCancel: ContextRow = { entries: [], isExit: true };

/** The operations whose extra disclosure is the factory; a settlement also discloses allocations and their holdings. */
export const factoryContexts = {
  "transfer-factory/offer": {
    entries: ["instrument-configuration", "sender-credentials", "enable-result-contracts"],
    bareNames: true,
  },
  "transfer-factory/direct": transferAccept,
  "transfer-factory/self": transferAccept,
  "allocation-factory": { entries: ["instrument-configuration", "sender-credentials"] },
  "settlement-factory": {
    entries: [
      "transfer-rule",
      "instrument-configurations",
      "instrument-configuration",
      "holder-credentials",
      "enable-result-contracts",
    ],
    rewards: true,
  },
  "mint-offer/create": issuanceCreate,
  "mint-request/create": issuanceCreate,
  "burn-offer/create": issuanceCreate,
  "burn-request/create": issuanceCreate,
  "burn-mint-factory": {
    entries: ["instrument-configuration", "issuer-credentials", "enable-result-contracts"],
    rewards: true,
  },
} as const satisfies Record<string, ContextRow>;

interface ChoiceRow extends ContextRow {
  readonly template: InstructionTemplate;
}

/** The operations on one instruction. The extra disclosure is its locked holding, if it has one. */
export const choiceContexts = {
  "transfer-instruction/accept": { template: "TransferOffer", ...transferAccept },
  "transfer-instruction/reject": { template: "TransferOffer", ...transferExit },
  "transfer-instruction/withdraw": { template: "TransferOffer", ...transferExit },
  "allocation/execute-transfer": { template: "DvpLegAllocation", entries: transferAccept.entries, rewards: true },
  "allocation/withdraw": { template: "DvpLegAllocation", ...allocationExit },
  "allocation/cancel": { template: "DvpLegAllocation", ...allocationExit },
  "mint-offer/accept": { template: "MintOffer", ...issuanceAccept },
  "mint-offer/reject": { template: "MintOffer", ...issuanceReject },
  "mint-offer/cancel": { template: "MintOffer", ...issuanceCancel },
  "mint-request/accept": { template: "MintRequest", ...issuanceAccept },
  "mint-request/reject": { template: "MintRequest", ...issuanceReject },
  "mint-request/cancel": { template: "MintRequest", ...issuanceCancel },
  "burn-offer/accept": { template: "BurnOffer", ...issuanceAccept },
  "burn-offer/reject": { template: "BurnOffer", ...issuanceReject },
  "burn-offer/cancel": { template: "BurnOffer", ...issuanceCancel },
  "burn-request/accept": { template: "BurnRequest", ...issuanceAccept },
  "burn-request/reject": { template: "BurnRequest", ...issuanceReject },
  "burn-request/cancel": { template: "BurnRequest", ...issuanceCancel },
} as const satisfies Record<string, ChoiceRow>;

export type FactoryContext = keyof typeof factoryContexts;
export type InstructionChoice = keyof typeof choiceContexts;
