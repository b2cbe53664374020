import type { ContractLookup, View } from "../../../store/port.js";
import type { ContractSelector } from "../selection/contract-selector.js";
import type { ChoiceContextBuilder } from "./choice-context-builder.js";
import type { ContextEntry, Disclosure, EntryInputs, PrefetchInputs } from "./context-entry.js";

export interface ContextDefinition {
  /** Written in this order. */
  readonly entries: readonly ContextEntry[];
  /** Added in this order, after the contracts that the entries refer to. */
  readonly disclosures: readonly Disclosure[];
  /** If true, the operation never fails for a missing contract: the contract is left out. */
  readonly allowMissing: boolean;
  /** Whether each entry appears a second time under its key without prefix, which older packages read. */
  readonly legacyAliases: boolean;
}

export function writeContext(
  { entries, disclosures }: ContextDefinition,
  builder: ChoiceContextBuilder,
  selector: ContractSelector,
  inputs: EntryInputs,
): void {
  for (const entry of entries) {
    const value = entry.value(builder, selector, inputs);
    if (value !== undefined) builder.set(entry.key, value);
  }
  for (const disclosure of disclosures) disclosure.disclose(builder, selector, inputs);
}

/** Announces all lookups of a context, in two round trips. Call it only if `view.wantsPrefetch`. */
export function prefetchContext(view: View, definition: ContextDefinition, inputs: PrefetchInputs): void {
  const parts = [...definition.entries, ...definition.disclosures];
  view.prefetch(() => distinct(parts.map((part) => part.prefetch?.(inputs) ?? [])));
  view.prefetch(() => distinct(parts.map((part) => part.prefetchByConfiguration?.(inputs, view) ?? [])));
}

function distinct(lookups: readonly Iterable<ContractLookup>[]): Iterable<ContractLookup> {
  const byName = new Map<string, ContractLookup>();
  for (const some of lookups) {
    for (const lookup of some) byName.set("indexKey" in lookup ? lookup.indexKey : lookup.contractId, lookup);
  }
  return byName.values();
}
