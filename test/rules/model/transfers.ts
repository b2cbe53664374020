/** The transfer factory. */
import type { JsonObject } from "../../../src/domain/json.js";
import type { Account } from "./accounts.js";
import { type Transfer, transferArguments } from "./choice-arguments.js";
import { type Expected, failed } from "./expected.js";
import {
  answerOn,
  answerWithFactory,
  factoriesOf,
  groupOfRequest,
  type Situation,
  withArguments,
} from "./factories.js";
import {
  configurationsOf,
  contractsOf,
  type Group,
  type LedgerContract,
  ofGroup,
  readList,
  readText,
  registrarsContracts,
} from "./ledger.js";
import { isOlder } from "./versions.js";

export function transferFactory(situation: Situation, choice: JsonObject, isVersion2: boolean): Expected {
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
      const group = groupOfRequest(situation, instruments);
      if (group === undefined) return failed(404);
      const { refused } = factoriesOf(situation, group, isVersion2);
      if (refused !== undefined) return { kind: "failure", failures: [refused] };
      const receiver = partyOf(situation, transfer.receiver);
      const isSelf = partyOf(situation, transfer.sender) === receiver;
      const preapprovals = isSelf ? [] : countingPreapprovals(situation, group, transfer, receiver, isVersion2);
      // Each is a factory: the newest wins that shares a synchronizer with the needed contracts.
      if (preapprovals.length > 0)
        return {
          ...answerOn(situation, group, preapprovals, "transfer-factory/direct", inputs, []),
          transferKind: "direct",
        };
      const transferKind = isSelf ? "self" : "offer";
      const operation = `transfer-factory/${transferKind}` as const;
      return { ...answerWithFactory(situation, { operation, inputs, isVersion2 }), transferKind };
    },
  );
}

/** A special account stands for the instrument's admin. */
const partyOf = ({ registrar }: Situation, { party }: Account): string => party ?? registrar;

/** The preapprovals of the receiver that count, the newest first. */
function countingPreapprovals(
  { ledger, registrar, settings }: Situation,
  group: Group,
  { instrument }: Transfer,
  receiver: string,
  isVersion2: boolean,
): LedgerContract[] {
  return contractsOf(ledger, "TransferPreapproval").filter((preapproval) => {
    const { payload, synchronizerId } = preapproval;
    const allowances = readList(payload, "instrumentAllowances").map((allowance) => readText(allowance, "id"));
    const isHere = (candidates: readonly LedgerContract[]): boolean =>
      ofGroup(candidates, group).some((candidate) => candidate.synchronizerId === synchronizerId);
    return (
      readText(payload, "receiver") === receiver &&
      readText(payload, "instrumentAdmin") === registrar &&
      synchronizerId !== undefined &&
      readText(payload, "operator") === group.operator &&
      (allowances.length === 0 || allowances.includes(instrument)) &&
      !(isVersion2 && isOlder(settings, preapproval, "0.9.0")) &&
      isHere(configurationsOf(ledger, registrar, instrument)) &&
      isHere(registrarsContracts(ledger, "TransferRule", registrar))
    );
  });
}
