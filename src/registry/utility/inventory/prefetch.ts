/** Announces what checks look up. Each phase is one round trip, in the order of `prefetchContext`. */
import type { View } from "../../../store/port.js";
import { prefetchContext, prefetchInputs } from "../entries/context-definition.js";
import type { PrefetchInputs } from "../entries/context-entry.js";
import { providerOf } from "../operations/factory.js";
import { indexKeys } from "../templates/index-keys.js";
import { allocationFactory } from "../templates/services.js";
import { factoryInputs } from "./factory-attempts.js";
import type { Definitions, LinesByOperation } from "./operation-lines.js";

export type PrefetchPhase = "inputs" | "configurations";

/** `strict` looks up the same contracts as `answered`. */
export const prefetchOperation = (
  view: View,
  { strict }: Definitions,
  inputs: PrefetchInputs,
  phase: PrefetchPhase,
): void => (phase === "inputs" ? prefetchInputs(view, [strict], inputs) : prefetchContext(view, strict, inputs));

/** The lookups of all operations on an instrument. The view has the registrar's factories. */
export function prefetchInstrument(
  view: View,
  { factories, choices }: LinesByOperation,
  { registrar, instrument }: { readonly registrar: string; readonly instrument: string },
  phase: PrefetchPhase,
): void {
  const providers = factoryProviders(view, registrar);
  for (const lines of factories.values()) {
    const inputs = { ...factoryInputs(lines.operation, registrar, instrument), registrar, providers };
    prefetchOperation(view, lines, inputs, phase);
  }
  for (const lines of choices.values())
    prefetchOperation(view, lines, { instruments: [instrument], registrar, providers }, phase);
}

/** Undefined if the registrar has no factory: the configurations name the providers then. */
export function factoryProviders(view: View, registrar: string): readonly string[] | undefined {
  const providers = view.byKey(allocationFactory, indexKeys.factory(registrar)).flatMap((one) => providerOf(one) ?? []);
  return providers.length > 0 ? [...new Set(providers)] : undefined;
}
