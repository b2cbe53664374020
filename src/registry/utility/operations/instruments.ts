import type { Contract } from "../../../domain/contract.js";
import { decimalText } from "../../sdk/decimal.js";
import type { Instrument, InstrumentConfiguration, RequestContext, Supply } from "../../sdk/registry.js";
import { instrumentConfiguration } from "../templates/instruments.js";
import { indexKeys } from "../templates/index-keys.js";
import { requireFactories } from "./require.js";

/** A registrar's instruments, from the newest configuration of each, on any synchronizer. */
export function instruments({ view }: RequestContext, registrar: string): Instrument[] {
  const configurations = view.byKey(instrumentConfiguration, indexKeys.instruments(registrar));
  requireFactories(view, registrar);
  const byId = new Map<string, Contract<InstrumentConfiguration>>();
  for (const configuration of configurations) {
    const { id } = configuration.fields.defaultIdentifier;
    if (!byId.has(id)) byId.set(id, configuration);
  }
  // A default id names only its own instrument, even if another configuration lists it as additional.
  return [...byId].map(([id, { fields }]) => ({
    id,
    otherIds: [...new Set(fields.additionalIdentifiers.map((other) => other.id))].filter((other) => !byId.has(other)),
    paused: fields.paused,
  }));
}

/** The sum of all holdings of each instrument, under any of its ids. */
export function totalSupply(
  { view }: RequestContext,
  registrar: string,
  listed: readonly Instrument[],
): (Supply | undefined)[] {
  const { asOf } = view;
  if (asOf === undefined) return listed.map(() => undefined);
  const names = listed.map(({ id, otherIds }) => [id, ...otherIds].map((name) => indexKeys.supply(registrar, name)));
  const sums = view.sums(names.flat());
  let next = 0;
  return names.map(({ length }) => {
    const total = sums.slice(next, next + length).reduce((sum, amount) => sum + amount, 0n);
    next += length;
    return { total: decimalText(total), asOf };
  });
}
