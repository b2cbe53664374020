/** The settlement factory. */
import type { JsonObject } from "../../../src/domain/json.js";
import type { Account } from "./accounts.js";
import { distinct, settledInstruments, type Settlement, settlementArguments } from "./choice-arguments.js";
import type { Holder } from "./entries.js";
import type { Expected } from "./expected.js";
import { answerWithFactory, type Situation, withArguments } from "./factories.js";
import { findInstruction, type Instruction, lockedHoldings } from "./instructions.js";
import { groupOf, isSameGroup } from "./ledger.js";

export function settlementFactory(situation: Situation, choice: JsonObject): Expected {
  const { ledger, settings, registrar } = situation;
  return withArguments(
    situation,
    () => settlementArguments(choice, settings.limits),
    (settlement) => {
      const allocations = new Map<string, Instruction>();
      const refused: string[] = [];
      for (const { contractId } of settlement.allocations) {
        const allocation = findInstruction(ledger, "DvpLegAllocation", contractId, undefined);
        if (allocation?.registrar === registrar) allocations.set(contractId, allocation);
        // One that was never seen may be created in the same transaction.
        else if (allocation !== undefined || settings.rejectsUnknown) refused.push(contractId);
      }
      const found = [...allocations.values()];
      const [group, ...others] = found.map(({ contract }) => groupOf(contract));
      if (group !== undefined && others.some((other) => !isSameGroup(other, group))) {
        const failures = [{ status: 400, mentions: ["cannot be settled together"] } as const];
        return { kind: "failure", failures };
      }
      const inputs = {
        instruments: settledInstruments(settlement),
        holders: settlementHolders(settlement, allocations),
      };
      const answer = answerWithFactory(situation, {
        operation: "settlement-factory",
        inputs,
        group,
        isVersion2: true,
        disclosures: [
          ...found.map(({ contract }) => ({
            contractId: contract.contractId,
            candidates: [contract],
            isRequired: true,
          })),
          ...found.flatMap((allocation) => lockedHoldings(ledger, allocation)),
        ],
      });
      if (refused.length === 0) return answer;
      const more = answer.kind === "failure" ? answer.failures.filter(({ status }) => status === 404) : [];
      return { kind: "failure", failures: [{ status: 404, mentions: refused }, ...more] };
    },
  );
}

/**
 * Each party with the instruments that it sends or receives: in the legs, as the other side of an extra side, and as
 * the sender of an allocation with extra sides or funding.
 */
function settlementHolders({ legs, allocations }: Settlement, contracts: ReadonlyMap<string, Instruction>): Holder[] {
  const needs: { account: Account | undefined; instrument: string }[] = [];
  for (const { sender, receiver, instrument } of legs)
    needs.push({ account: sender, instrument }, { account: receiver, instrument });
  for (const { contractId, extraSides, funded } of allocations) {
    const account = contracts.get(contractId)?.sender;
    for (const { otherside, instrument } of extraSides)
      needs.push({ account: otherside, instrument }, { account, instrument });
    for (const instrument of funded) needs.push({ account, instrument });
  }
  return distinct(needs.flatMap(({ account }) => account?.party ?? [])).map((party) => {
    const own = needs.filter(({ account }) => account?.party === party);
    return {
      account: { party, named: [], key: party },
      instruments: distinct(own.map(({ instrument }) => instrument)),
    };
  });
}
