import type { Contract } from "../../../domain/contract.js";
import { decimalText } from "../../sdk/decimal.js";
import type { Instrument, InstrumentConfiguration, RequestContext, Supply } from "../../sdk/registry.js";
import { instrumentConfiguration } from "../templates/instruments.js";
import { indexKeys } from "../templates/index-keys.js";
import { factoriesLookup, requireFactories } from "./require.js";

/** The instruments of a registrar: of several configurations for one id the newest. Where they are assigned does not matter here. */
export function instruments({ view }: RequestContext, registrar: string): Instrument[] {
  const indexKey = indexKeys.instruments(registrar);
  view.prefetch(() => [factoriesLookup(registrar), { template: instrumentConfiguration, indexKey }]);
  requireFactories(view, registrar);
  const byId = new Map<string, Contract<InstrumentConfiguration>>();
  for (const configuration of view.byKey(instrumentConfiguration, indexKey)) {
    const { id } = configuration.fields.defaultIdentifier;
    if (!byId.has(id)) byId.set(id, configuration);
  }
  // An id that is an instrument's own is no other's, whoever claims it besides.
  return [...byId].map(([id, { fields }]) => ({
    id,
    otherIds: [...new Set(fields.additionalIdentifiers.map((other) => other.id))].filter((other) => !byId.has(other)),
  }));
}

/** The sum of the holdings of each instrument, whichever of its ids they name. */
export function totalSupply(
  { view }: RequestContext,
  registrar: string,
  listed: readonly Instrument[],
): (Supply | undefined)[] {
  const { asOf } = view;
  if (asOf === undefined) return listed.map(() => undefined);
  const names = listed.map(({ id, otherIds }) => [id, ...otherIds].map((one) => indexKeys.supply(registrar, one)));
  const sums = view.sums(names.flat());
  let next = 0;
  return names.map(({ length }) => {
    const total = sums.slice(next, next + length).reduce((sum, one) => sum + one, 0n);
    next += length;
    return { total: decimalText(total), asOf };
  });
}
