/** The instructions on the ledger: transfer offers, allocations, and offers and requests to mint and burn. */
import type { Template } from "../../fixtures/elements.js";
import { type Account, partyAccount } from "./arguments.js";
import type { Disclosure } from "./context.js";
import { contractsOf, type Ledger, type LedgerContract, read, readList, readText } from "./ledger.js";

export interface Instruction {
  readonly contract: LedgerContract;
  /** The admin of its instrument. */
  readonly registrar: string;
  readonly instrument: string;
  /** Undefined for mint and burn; `receiver` too. */
  readonly sender: Account | undefined;
  readonly receiver: Account | undefined;
  /** The party whose holdings are minted or burned. */
  readonly holder: string | undefined;
  /** The contract ids of the holding that it locks: none or one. */
  readonly lockedHoldings: readonly string[];
}

/** Where the terms are in the payload. */
const termsPath = {
  TransferOffer: "transfer",
  DvpLegAllocation: "allocation.transferLeg",
  MintOffer: "mint",
  MintRequest: "mint",
  BurnOffer: "burn",
  BurnRequest: "burn",
} as const satisfies Partial<Record<Template, string>>;

export type InstructionTemplate = keyof typeof termsPath;

/** The instruction with this id. Undefined if it does not exist, or is of another template or another registrar. */
export function findInstruction(
  ledger: Ledger,
  template: InstructionTemplate,
  contractId: string,
  registrar: string | undefined,
): Instruction | undefined {
  const contract = contractsOf(ledger, template).find((one) => one.contractId === contractId);
  if (contract === undefined) return undefined;
  const instruction = parse(template, contract);
  return registrar === undefined || registrar === instruction.registrar ? instruction : undefined;
}

function parse(template: InstructionTemplate, contract: LedgerContract): Instruction {
  const { payload } = contract;
  const terms = read(payload, termsPath[template]);
  const account = (name: string): Account | undefined => {
    const party = readText(terms, name);
    return party === undefined ? undefined : partyAccount(party);
  };
  const locked =
    template === "TransferOffer" ? readList(terms, "inputHoldingCids")[0] : read(payload, "lockedHoldingCid");
  return {
    contract,
    registrar: readText(terms, "instrumentId.admin") ?? "",
    instrument: readText(terms, "instrumentId.id") ?? "",
    sender: account("sender"),
    receiver: account("receiver"),
    holder: readText(terms, "holder"),
    lockedHoldings: typeof locked === "string" ? [locked] : [],
  };
}

/** The locked holding to disclose. One that is not locked is no candidate: "unlocked ones are dropped on arrival". */
export function lockedHoldings(ledger: Ledger, { lockedHoldings: ids }: Instruction): Disclosure[] {
  const locked = contractsOf(ledger, "Holding").filter(({ payload }) => read(payload, "lock") !== undefined);
  return ids.map((contractId) => ({
    contractId,
    candidates: locked.filter((holding) => holding.contractId === contractId),
  }));
}
