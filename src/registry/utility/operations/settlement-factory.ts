import { ask } from "../../ask.js";
import type { FactoryAnswer, FactoryQuestion, Scene } from "../../registry.js";
import { Draft } from "../context/draft.js";
import { type Entry, wantedFor, writeConfigurations, writeEntries } from "../context/entries.js";
import { onOneSynchronizer, requiredOn } from "../evidence/candidates.js";
import { gather, type Holder } from "../evidence/evidence.js";
import { Site } from "../evidence/site.js";
import { dvpLegAllocation } from "../kinds/instructions.js";
import { keys } from "../kinds/keys.js";
import { allocationFactory } from "../kinds/services.js";
import { type Leg, settlementArguments } from "./arguments.js";
import { instructionOf, notServed } from "./found.js";
import { checkSize, type SettlementLimits, sizeOf } from "./settlement-limits.js";

/** The entries that concern no instrument. */
const services: readonly Entry[] = ["transfer-rule", "app-reward-configuration", "featured-app-right"];

/** The factory for settling many allocations in one batch (`SettlementFactory_SettleBatch`). */
export async function settlementFactory(
  { view, now }: Scene,
  question: FactoryQuestion,
  limits: SettlementLimits,
): Promise<FactoryAnswer> {
  const { registrar } = question;
  const settlement = settlementArguments(question);
  checkSize("settlement", sizeOf(settlement), limits);

  const found = await ask(view, {
    factories: [{ kind: allocationFactory, key: keys.factory(registrar) }],
    allocations: settlement.allocations.map((contractId) => ({ kind: dvpLegAllocation, contractId })),
  });
  const factories = found.factories.flat();
  if (factories.length === 0) throw notServed(registrar);
  const allocations = settlement.allocations.map((id, index) =>
    instructionOf(registrar, `allocation ${id}`, found.allocations[index]),
  );
  const holders = accountHolders(settlement.legs);
  const instruments = [...new Set(settlement.legs.map(({ instrumentId }) => instrumentId))];
  const evidence = await gather(view, {
    ...wantedFor(services, registrar, {}),
    instruments,
    holders,
    providers: factories.map(({ facts }) => facts.provider),
    lockedHoldings: allocations.flatMap(({ facts }) => facts.lockedHolding ?? []),
  });

  const name = `the AllocationFactory of registrar ${registrar}`;
  return onOneSynchronizer(factories, name, (factory, synchronizer): FactoryAnswer => {
    const draft = new Draft(false);
    const site = new Site({ evidence, registrar, synchronizer, now, lenient: false });
    writeEntries(services, draft, site, { provider: factory.facts.provider });
    writeInstruments(draft, site, instruments);
    writeHolders(draft, site, holders);
    draft.disclose(factory);
    for (const allocation of allocations) {
      draft.disclose(requiredOn([allocation], synchronizer, `allocation ${allocation.contractId}`));
    }
    for (const { facts } of allocations) {
      const held = facts.lockedHolding === undefined ? undefined : site.lockedHolding(facts.lockedHolding);
      if (held !== undefined) draft.disclose(held);
    }
    return { ...draft.finish(), factoryId: factory.contractId };
  });
}

function writeInstruments(draft: Draft, site: Site, instruments: readonly string[]): void {
  writeConfigurations(draft, site, instruments);
  if (instruments.length === 1) writeEntries(["instrument-configuration"], draft, site, { instruments });
}

function writeHolders(draft: Draft, site: Site, holders: readonly Holder[]): void {
  const credentials = holders.map((holder) => [holder.party, draft.referAll(site.credentials(holder))]);
  draft.put("holder-credentials", { tag: "AV_Map", value: Object.fromEntries(credentials) });
}

/** Each party of an account with the instruments that it sends or receives. */
function accountHolders(legs: readonly Leg[]): Holder[] {
  const instruments = new Map<string, Set<string>>();
  for (const { sender, receiver, instrumentId } of legs) {
    for (const { party } of [sender, receiver]) {
      const known = instruments.get(party);
      if (known === undefined) instruments.set(party, new Set([instrumentId]));
      else known.add(instrumentId);
    }
  }
  return [...instruments].map(([party, ids]) => ({ party, as: "holder", instruments: [...ids] }));
}
