/** The transfer factory. */
import type { JsonObject } from "../../../src/domain/json.js";
import type { Account } from "./accounts.js";
import { type Transfer, transferArguments } from "./choice-arguments.js";
import type { Expected } from "./expected.js";
import { allocationFactoriesOf, answerOn, answerWithFactory, type Situation, withArguments } from "./factories.js";
import {
  configurationsOf,
  contractsOf,
  type LedgerContract,
  readList,
  readText,
  registrarsContracts,
} from "./ledger.js";

export function transferFactory(situation: Situation, choice: JsonObject): Expected {
  const { registrar } = situation;
  return withArguments(
    situation,
    () => transferArguments(registrar, choice),
    (transfer) => {
      const instruments = [transfer.instrument];
      const inputs = {
        instruments,
        sender: { account: transfer.sender, instruments },
        receiver: { account: transfer.receiver, instruments },
      };
      const receiver = partyOf(situation, transfer.receiver);
      if (partyOf(situation, transfer.sender) === receiver)
        return { ...answerWithFactory(situation, "transfer-factory/self", inputs), transferKind: "self" };
      const preapprovals = countingPreapprovals(situation, transfer, receiver);
      if (preapprovals.length === 0)
        return { ...answerWithFactory(situation, "transfer-factory/offer", inputs), transferKind: "offer" };
      // Each is a factory: the newest wins that shares a synchronizer with the needed contracts.
      return { ...answerOn(situation, preapprovals, "transfer-factory/direct", inputs, []), transferKind: "direct" };
    },
  );
}

/** A special account stands for the instrument's admin. */
const partyOf = ({ registrar }: Situation, { party }: Account): string => party ?? registrar;

/** The preapprovals of the receiver that count, the newest first. */
function countingPreapprovals(situation: Situation, { instrument }: Transfer, receiver: string): LedgerContract[] {
  const { ledger, registrar } = situation;
  const operator = readText(allocationFactoriesOf(situation)[0]?.payload, "operator");
  return contractsOf(ledger, "TransferPreapproval").filter(({ payload, synchronizerId }) => {
    const allowances = readList(payload, "instrumentAllowances").map((allowance) => readText(allowance, "id"));
    /** Whether one is on the synchronizer of the preapproval, or none exists. */
    const isUsable = (candidates: readonly LedgerContract[]): boolean =>
      candidates.length === 0 || candidates.some((candidate) => candidate.synchronizerId === synchronizerId);
    return (
      readText(payload, "receiver") === receiver &&
      readText(payload, "instrumentAdmin") === registrar &&
      synchronizerId !== undefined &&
      (operator === undefined || readText(payload, "operator") === operator) &&
      (allowances.length === 0 || allowances.includes(instrument)) &&
      isUsable(configurationsOf(ledger, registrar, instrument)) &&
      isUsable(registrarsContracts(ledger, "TransferRule", registrar))
    );
  });
}
