/** Announces what checks look up. Each phase is one round trip, in the order of `prefetchContext`. */
import type { View } from "../../../store/port.js";
import { prefetchContext, prefetchInputs } from "../entries/context-definition.js";
import type { PrefetchInputs } from "../entries/context-entry.js";
import type { Group } from "../selection/group.js";
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

/** The lookups of all operations on an instrument of a group. */
export function prefetchInstrument(
  view: View,
  { factories, choices }: LinesByOperation,
  { group: { registrar, provider }, instrument }: { readonly group: Group; readonly instrument: string },
  phase: PrefetchPhase,
): void {
  for (const lines of factories.values()) {
    const inputs = { ...factoryInputs(instrument), registrar, provider };
    prefetchOperation(view, lines, inputs, phase);
  }
  for (const lines of choices.values())
    prefetchOperation(view, lines, { instruments: [instrument], registrar, provider }, phase);
}
