/** The choice context of every operation, by the names of entries and disclosures, which entries/ defines. */
import type { Template } from "../../domain/template.js";
import type { Choice, IssuanceChoice, TransferKind } from "../sdk/registry.js";
import type { ContextDefinition } from "./entries/context-definition.js";
import { contextEntries, type DisclosureName, disclosures, type EntryName } from "./entries/index.js";
import {
  burnOffer,
  burnRequest,
  dvpLegAllocation,
  type Instruction,
  mintOffer,
  mintRequest,
  transferOffer,
} from "./templates/instructions.js";

interface Row {
  readonly entries: readonly EntryName[];
  readonly discloses: readonly DisclosureName[];
  readonly allowMissing?: boolean;
  readonly legacyAliases?: boolean;
}

export interface ChoiceContextDefinition extends ContextDefinition {
  /** What messages call the instruction. */
  readonly label: string;
  readonly template: Template<Instruction>;
}

type FactoryOperation =
  | `transfer-factory/${TransferKind}`
  | "allocation-factory"
  | "settlement-factory"
  | "issuance-factory"
  | "burn-mint-factory";

/** Allocation instructions are never pending: the factory makes the allocation at once. */
type PendingChoice = Exclude<Choice, `allocation-instruction/${string}`>;

/** The entries of accepting a transfer, and of a transfer that needs no acceptance. */
const executeTransfer: readonly EntryName[] = [
  "instrument-configuration",
  "sender-credentials",
  "receiver-credentials",
  "transfer-rule",
  "app-reward-configuration",
  "featured-app-right",
];
const immediateTransfer: Row = { entries: executeTransfer, discloses: ["factory"], legacyAliases: true };
/** Reject, withdraw and cancel must always be possible. */
const exitTransfer: Row = {
  entries: ["instrument-configuration", "enable-result-contracts"],
  discloses: ["locked-holding"],
  allowMissing: true,
  legacyAliases: true,
};
const exit: Row = { entries: ["enable-result-contracts"], discloses: ["locked-holding"], allowMissing: true };
const acceptIssuance: Row = {
  entries: [
    "instrument-configuration",
    "issuer-credentials",
    "app-reward-configuration",
    "featured-app-right",
    "enable-result-contracts",
  ],
  discloses: ["locked-holding"],
};

export const factoryContexts: Readonly<Record<FactoryOperation, ContextDefinition>> = {
  "transfer-factory/offer": define({
    entries: ["instrument-configuration", "sender-credentials"],
    discloses: ["factory"],
    legacyAliases: true,
  }),
  "transfer-factory/direct": define(immediateTransfer),
  "transfer-factory/self": define(immediateTransfer),
  "allocation-factory": define({
    entries: ["instrument-configuration", "several-instrument-configurations", "sender-credentials"],
    discloses: ["factory"],
  }),
  "settlement-factory": define({
    entries: [
      "transfer-rule",
      "app-reward-configuration",
      "featured-app-right",
      "instrument-configurations",
      "instrument-configuration",
      "holder-credentials",
    ],
    discloses: ["factory", "allocations", "allocation-holdings"],
  }),
  "issuance-factory": define({
    entries: ["instrument-configuration", "issuer-credentials"],
    discloses: ["factory"],
  }),
  "burn-mint-factory": define({
    entries: ["instrument-configuration", "issuer-credentials", "app-reward-configuration", "featured-app-right"],
    discloses: ["factory"],
  }),
};

export const choiceContexts: Readonly<Record<PendingChoice | IssuanceChoice, ChoiceContextDefinition>> = {
  "transfer-instruction/accept": defineChoice("transfer instruction", transferOffer, {
    entries: executeTransfer,
    discloses: ["locked-holding"],
    legacyAliases: true,
  }),
  "transfer-instruction/reject": defineChoice("transfer instruction", transferOffer, exitTransfer),
  "transfer-instruction/withdraw": defineChoice("transfer instruction", transferOffer, exitTransfer),
  "allocation/execute-transfer": defineChoice("allocation", dvpLegAllocation, {
    entries: executeTransfer,
    discloses: ["locked-holding"],
  }),
  "allocation/withdraw": defineChoice("allocation", dvpLegAllocation, exit),
  "allocation/cancel": defineChoice("allocation", dvpLegAllocation, exit),
  "mint-offer/accept": defineChoice("mint offer", mintOffer, acceptIssuance),
  "mint-offer/reject": defineChoice("mint offer", mintOffer, exit),
  "mint-offer/cancel": defineChoice("mint offer", mintOffer, exit),
  "mint-request/accept": defineChoice("mint request", mintRequest, acceptIssuance),
  "mint-request/reject": defineChoice("mint request", mintRequest, exit),
  "mint-request/cancel": defineChoice("mint request", mintRequest, exit),
  "burn-offer/accept": defineChoice("burn offer", burnOffer, acceptIssuance),
  "burn-offer/reject": defineChoice("burn offer", burnOffer, exit),
  "burn-offer/cancel": defineChoice("burn offer", burnOffer, exit),
  "burn-request/accept": defineChoice("burn request", burnRequest, acceptIssuance),
  "burn-request/reject": defineChoice("burn request", burnRequest, exit),
  "burn-request/cancel": defineChoice("burn request", burnRequest, exit),
};

function defineChoice(label: string, template: Template<Instruction>, row: Row): ChoiceContextDefinition {
  return { ...define(row), label, template };
}

function define({ entries, discloses, allowMissing = false, legacyAliases = false }: Row): ContextDefinition {
  return {
    entries: entries.map((name) => contextEntries[name]),
    disclosures: discloses.map((name) => disclosures[name]),
    allowMissing,
    legacyAliases,
  };
}
