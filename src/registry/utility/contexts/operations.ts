/** The operations that have a choice context, by the names of contexts.yaml. */
import type { Template } from "../../../domain/template.js";
import type { Choice, IssuanceChoice, IssuanceInstruction, TransferKind } from "../../sdk/registry.js";
import {
  burnOffer,
  burnRequest,
  dvpLegAllocation,
  type Instruction,
  mintOffer,
  mintRequest,
  transferOffer,
} from "../instructions.js";

/** Allocation instructions are never pending: the factory makes the allocation at once. */
export type PendingChoice = Exclude<Choice, `allocation-instruction/${string}`>;

export type FactoryOperation =
  | `transfer-factory/${TransferKind}`
  | "allocation-factory"
  | "settlement-factory"
  | `${IssuanceInstruction}/create`
  | "burn-mint-factory";

export type ChoiceOperation = PendingChoice | IssuanceChoice;
export type Operation = FactoryOperation | ChoiceOperation;

export const factoryOperations: readonly FactoryOperation[] = [
  "transfer-factory/offer",
  "transfer-factory/direct",
  "transfer-factory/self",
  "allocation-factory",
  "settlement-factory",
  "mint-offer/create",
  "mint-request/create",
  "burn-offer/create",
  "burn-request/create",
  "burn-mint-factory",
];

/** What messages call the instruction of a choice, and the template of its contract. */
export interface InstructionKind {
  readonly label: string;
  readonly template: Template<Instruction>;
}

const transfer: InstructionKind = { label: "transfer instruction", template: transferOffer };
const allocation: InstructionKind = { label: "allocation", template: dvpLegAllocation };
const mintOffers: InstructionKind = { label: "mint offer", template: mintOffer };
const mintRequests: InstructionKind = { label: "mint request", template: mintRequest };
const burnOffers: InstructionKind = { label: "burn offer", template: burnOffer };
const burnRequests: InstructionKind = { label: "burn request", template: burnRequest };

export const choiceOperations: Readonly<Record<ChoiceOperation, InstructionKind>> = {
  "transfer-instruction/accept": transfer,
  "transfer-instruction/reject": transfer,
  "transfer-instruction/withdraw": transfer,
  "allocation/execute-transfer": allocation,
  "allocation/withdraw": allocation,
  "allocation/cancel": allocation,
  "mint-offer/accept": mintOffers,
  "mint-offer/reject": mintOffers,
  "mint-offer/cancel": mintOffers,
  "mint-request/accept": mintRequests,
  "mint-request/reject": mintRequests,
  "mint-request/cancel": mintRequests,
  "burn-offer/accept": burnOffers,
  "burn-offer/reject": burnOffers,
  "burn-offer/cancel": burnOffers,
  "burn-request/accept": burnRequests,
  "burn-request/reject": burnRequests,
  "burn-request/cancel": burnRequests,
};

export const operations: readonly Operation[] = [
  ...factoryOperations,
  // The record has exactly the names of its type.
  ...(Object.keys(choiceOperations) as ChoiceOperation[]),
];

/** Reject, withdraw and cancel must always be possible: they require no contract. */
export const isExit = (operation: Operation): boolean => /\/(?:reject|withdraw|cancel)$/.test(operation);
