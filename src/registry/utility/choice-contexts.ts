/** Every choice on an instruction, as a line of the page's table of operations. */
import type { Template } from "../../domain/template.js";
import type { Choice, IssuanceChoice } from "../sdk/registry.js";
import { acceptTransfer, type Entry } from "./entries/entries.js";
import {
  burnOffer,
  burnRequest,
  dvpLegAllocation,
  type Instruction,
  mintOffer,
  mintRequest,
  transferOffer,
} from "./templates/instructions.js";

export interface ChoiceRule {
  /** What messages call the instruction. */
  readonly label: string;
  readonly template: Template<Instruction>;
  readonly entries: readonly Entry[];
  /** Whether the choice lets a party out: then only the instruction itself has to be there. */
  readonly allowMissing: boolean;
  /** Whether entries stand under their bare names too. */
  readonly legacyAliases: boolean;
}

const transfer = { label: "transfer instruction", template: transferOffer, legacyAliases: true };
const allocation = { label: "allocation", template: dvpLegAllocation, legacyAliases: false };
const mintOffered = { label: "mint offer", template: mintOffer, legacyAliases: false };
const mintRequested = { label: "mint request", template: mintRequest, legacyAliases: false };
const burnOffered = { label: "burn offer", template: burnOffer, legacyAliases: false };
const burnRequested = { label: "burn request", template: burnRequest, legacyAliases: false };

const move = { entries: acceptTransfer, allowMissing: false };
const issue = {
  entries: [
    "instrument-configuration",
    "issuer-credentials",
    "app-reward-configuration",
    "featured-app-right",
    "enable-result-contracts",
  ] as const satisfies Entry[],
  allowMissing: false,
};
const out = { entries: ["enable-result-contracts"] as const satisfies Entry[], allowMissing: true };
const outOfTransfer = {
  entries: ["instrument-configuration", "enable-result-contracts"] as const satisfies Entry[],
  allowMissing: true,
};

/** The choices of the token standard. There are no pending allocation instructions: an allocation is made at once. */
export const choices: Record<Exclude<Choice, `allocation-instruction/${string}`>, ChoiceRule> = {
  "transfer-instruction/accept": { ...transfer, ...move },
  "transfer-instruction/reject": { ...transfer, ...outOfTransfer },
  "transfer-instruction/withdraw": { ...transfer, ...outOfTransfer },
  "allocation/execute-transfer": { ...allocation, ...move },
  "allocation/withdraw": { ...allocation, ...out },
  "allocation/cancel": { ...allocation, ...out },
};

/** The choices on offers and requests to mint and burn. */
export const issuanceChoices: Record<IssuanceChoice, ChoiceRule> = {
  "mint-offer/accept": { ...mintOffered, ...issue },
  "mint-offer/reject": { ...mintOffered, ...out },
  "mint-offer/cancel": { ...mintOffered, ...out },
  "mint-request/accept": { ...mintRequested, ...issue },
  "mint-request/reject": { ...mintRequested, ...out },
  "mint-request/cancel": { ...mintRequested, ...out },
  "burn-offer/accept": { ...burnOffered, ...issue },
  "burn-offer/reject": { ...burnOffered, ...out },
  "burn-offer/cancel": { ...burnOffered, ...out },
  "burn-request/accept": { ...burnRequested, ...issue },
  "burn-request/reject": { ...burnRequested, ...out },
  "burn-request/cancel": { ...burnRequested, ...out },
};
