import type { FactoryAnswer, FactoryQuestion, Scene } from "../../registry.js";
import { Draft, entryName } from "../context/draft.js";
import { type Entry, wantedFor, writeConfigurations, writeEntries } from "../context/entries.js";
import { missingOn, onOneSynchronizer } from "../evidence/candidates.js";
import { Site } from "../evidence/site.js";
import { foresee, type Holder } from "../evidence/wanted.js";
import { dvpLegAllocation } from "../kinds/instructions.js";
import { type Leg, settlementArguments } from "./arguments.js";
import { askFactories, factoriesOf, instructionOf } from "./found.js";
import { checkSettlement, type SettlementLimits } from "./settlement-limits.js";

const holderCredentials = entryName("holder-credentials");

/** The entries that concern no instrument. */
const services: readonly Entry[] = ["transfer-rule", "app-reward-configuration", "featured-app-right"];

/** The factory for settling many allocations in one batch (`SettlementFactory_SettleBatch`). */
export function settlementFactory(
  { view, now }: Scene,
  question: FactoryQuestion,
  limits: SettlementLimits,
): FactoryAnswer {
  const { registrar } = question;
  const settlement = settlementArguments(question);
  checkSettlement(settlement, limits);

  if (view.fetches) {
    const allocations = settlement.allocations.map((contractId) => ({ kind: dvpLegAllocation, contractId }));
    view.foresee(() => [askFactories(registrar), ...allocations]);
  }
  const factories = factoriesOf(view, registrar);
  const allocations = settlement.allocations.map((id) =>
    instructionOf(registrar, "allocation", id, view.byId(dvpLegAllocation, id)),
  );
  const holders = accountHolders(settlement.legs);
  const instruments = [...new Set(settlement.legs.map(({ instrumentId }) => instrumentId))];
  if (view.fetches) {
    foresee(view, {
      ...wantedFor(services, registrar, {}),
      instruments,
      holders,
      providers: factories.map(({ facts }) => facts.provider),
      lockedHoldings: allocations.flatMap(({ facts }) => facts.lockedHolding ?? []),
    });
  }

  const name = () => `the AllocationFactory of registrar ${registrar}`;
  return onOneSynchronizer(factories, name, (factory, synchronizer): FactoryAnswer => {
    const draft = new Draft(false);
    const site = new Site({ view, registrar, synchronizer, now, lenient: false });
    writeEntries(services, draft, site, { provider: factory.facts.provider });
    writeInstruments(draft, site, instruments);
    writeHolders(draft, site, holders);
    draft.disclose(factory);
    for (const allocation of allocations) {
      if (allocation.synchronizerId !== synchronizer)
        missingOn([allocation], synchronizer, `allocation ${allocation.contractId}`);
      draft.disclose(allocation);
    }
    for (const { facts } of allocations) {
      const held = facts.lockedHolding === undefined ? undefined : site.lockedHolding(facts.lockedHolding);
      if (held !== undefined) draft.disclose(held);
    }
    return draft.finishFor(factory);
  });
}

function writeInstruments(draft: Draft, site: Site, instruments: readonly string[]): void {
  writeConfigurations(draft, site, instruments);
  if (instruments.length === 1) writeEntries(["instrument-configuration"], draft, site, { instruments });
}

function writeHolders(draft: Draft, site: Site, holders: readonly Holder[]): void {
  const credentials = holders.map(({ party, as, instruments }) => ({
    name: party,
    value: draft.referAll(site.credentials(party, as, instruments)),
  }));
  draft.put(holderCredentials, { tag: "AV_Map", value: credentials });
}

/** Each party of an account with the instruments that it sends or receives. */
function accountHolders(legs: readonly Leg[]): Holder[] {
  const holders = new Map<string, { party: string; as: "holder"; instruments: string[] }>();
  const add = (party: string, instrumentId: string) => {
    const known = holders.get(party);
    if (known === undefined) holders.set(party, { party, as: "holder", instruments: [instrumentId] });
    else if (!known.instruments.includes(instrumentId)) known.instruments.push(instrumentId);
  };
  for (const { sender, receiver, instrumentId } of legs) {
    add(sender.party, instrumentId);
    add(receiver.party, instrumentId);
  }
  return [...holders.values()];
}
