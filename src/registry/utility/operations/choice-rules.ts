/** Every choice on an instruction, as a line of the page's table of operations. */
import type { Kind } from "../../../store/store.js";
import type { Choice, IssuanceChoice } from "../../registry.js";
import { acceptTransfer, type Entry } from "../context/entries.js";
import {
  burnOffer,
  burnRequest,
  dvpLegAllocation,
  type Instruction,
  mintOffer,
  mintRequest,
  transferOffer,
} from "../kinds/instructions.js";

export interface ChoiceRule {
  /** What messages call the instruction. */
  readonly noun: string;
  readonly kind: Kind<Instruction>;
  readonly entries: readonly Entry[];
  /** Whether the choice lets a party out: then only the instruction itself has to be there. */
  readonly lenient: boolean;
  /** Whether entries stand under their bare names too. */
  readonly bareNames: boolean;
}

const transfer = { noun: "transfer instruction", kind: transferOffer, bareNames: true };
const allocation = { noun: "allocation", kind: dvpLegAllocation, bareNames: false };
const mintOffered = { noun: "mint offer", kind: mintOffer, bareNames: false };
const mintRequested = { noun: "mint request", kind: mintRequest, bareNames: false };
const burnOffered = { noun: "burn offer", kind: burnOffer, bareNames: false };
const burnRequested = { noun: "burn request", kind: burnRequest, bareNames: false };

const move = { entries: acceptTransfer, lenient: false };
const issue = {
  entries: [
    "instrument-configuration",
    "issuer-credentials",
    "app-reward-configuration",
    "featured-app-right",
    "enable-result-contracts",
  ] as const satisfies Entry[],
  lenient: false,
};
const out = { entries: ["enable-result-contracts"] as const satisfies Entry[], lenient: true };
const outOfTransfer = {
  entries: ["instrument-configuration", "enable-result-contracts"] as const satisfies Entry[],
  lenient: true,
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
