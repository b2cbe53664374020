/** The settlement factory. */
import type { JsonObject } from "../../../src/domain/json.js";
import type { Account } from "./accounts.js";
import { distinct, settledInstruments, type Settlement, settlementArguments } from "./choice-arguments.js";
import type { Holder } from "./entries.js";
import { type Expected, failed } from "./expected.js";
import { answerWithFactory, type Situation, withArguments } from "./factories.js";
import { findInstruction, type Instruction, lockedHoldings } from "./instructions.js";

export function settlementFactory(situation: Situation, choice: JsonObject): Expected {
  const { ledger, settings, registrar } = situation;
  return withArguments(
    situation,
    () => settlementArguments(choice, settings.limits),
    (settlement) => {
      const allocations = new Map<string, Instruction>();
      const unknown: string[] = [];
      for (const { contractId } of settlement.allocations) {
        const allocation = findInstruction(ledger, "DvpLegAllocation", contractId, registrar);
        if (allocation === undefined) unknown.push(contractId);
        else allocations.set(contractId, allocation);
      }
      if (unknown.length > 0) return failed(404, ...unknown);
      const found = [...allocations.values()];
      const inputs = {
        instruments: settledInstruments(settlement),
        holders: settlementHolders(settlement, allocations),
      };
      return answerWithFactory(situation, "settlement-factory", inputs, [
        ...found.map(({ contract }) => ({ contractId: contract.contractId, candidates: [contract] })),
        ...found.flatMap((allocation) => lockedHoldings(ledger, allocation)),
      ]);
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
