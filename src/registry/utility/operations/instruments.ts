import type { Contract } from "../../../store/store.js";
import { decimalText } from "../../decimal.js";
import type { Instrument, InstrumentConfiguration, Scene, Supply } from "../../registry.js";
import { instrumentConfiguration } from "../kinds/instruments.js";
import { keys } from "../kinds/keys.js";
import { askFactories, factoriesOf } from "./found.js";

/** The instruments of a registrar: of several configurations for one id the newest. Where they are assigned does not matter here. */
export function instruments({ view }: Scene, registrar: string): Instrument[] {
  const key = keys.instruments(registrar);
  view.foresee(() => [askFactories(registrar), { kind: instrumentConfiguration, key }]);
  factoriesOf(view, registrar);
  const byId = new Map<string, Contract<InstrumentConfiguration>>();
  for (const configuration of view.byKey(instrumentConfiguration, key)) {
    const { id } = configuration.facts.defaultIdentifier;
    if (!byId.has(id)) byId.set(id, configuration);
  }
  // An id that is an instrument's own is no other's, whoever claims it besides.
  return [...byId].map(([id, { facts }]) => ({
    id,
    otherIds: [...new Set(facts.additionalIdentifiers.map((other) => other.id))].filter((other) => !byId.has(other)),
  }));
}

/** The sum of the holdings of each instrument, whichever of its ids they name. */
export function totalSupply({ view }: Scene, registrar: string, listed: readonly Instrument[]): (Supply | undefined)[] {
  const { asOf } = view;
  if (asOf === undefined) return listed.map(() => undefined);
  const names = listed.map(({ id, otherIds }) => [id, ...otherIds].map((one) => keys.supply(registrar, one)));
  const sums = view.sums(names.flat());
  let next = 0;
  return names.map(({ length }) => {
    const total = sums.slice(next, next + length).reduce((sum, one) => sum + one, 0n);
    next += length;
    return { total: decimalText(total), asOf };
  });
}
