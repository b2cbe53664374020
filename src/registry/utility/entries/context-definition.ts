import type { CompiledCondition } from "../contexts/conditions.js";
import type { ContractLookup, View } from "../../../store/port.js";
import type { ContractSelector } from "../selection/contract-selector.js";
import type { ChoiceContextBuilder } from "./choice-context-builder.js";
import type { ContextEntry, Disclosure, EntryInputs, Prefetch, PrefetchInputs } from "./context-entry.js";

/** The context of one operation, compiled from its row of the table. */
export interface ContextDefinition {
  /** Written in this order. */
  readonly entries: readonly EntryRule[];
  /** Added in this order, after the contracts that the entries refer to. */
  readonly disclosures: readonly DisclosureRule[];
  /** Whether an instrument with `checkBlocklist` is refused: the choice would fail, and no line discloses a blocklist. */
  readonly refusesBlocklist: boolean;
}

export interface EntryRule extends Rule {
  readonly part: ContextEntry;
  readonly keys: readonly string[];
}

export interface DisclosureRule extends Rule {
  readonly part: Disclosure;
}

interface Rule {
  readonly required: boolean;
  readonly requiredWhen: CompiledCondition | undefined;
  readonly when: CompiledCondition | undefined;
}

/** Writes the entries and disclosures of one answer. Throws RegistryError if it cannot be given. */
export function writeContext(
  { entries, disclosures }: ContextDefinition,
  builder: ChoiceContextBuilder,
  selector: ContractSelector,
  inputs: EntryInputs,
): void {
  for (const rule of entries) {
    if (rule.when !== undefined && !rule.when.holds(selector, inputs)) continue;
    const value = rule.part.value(builder, selector, inputs, isRequired(rule, selector, inputs));
    if (value !== undefined) builder.set(rule.keys, value);
  }
  for (const rule of disclosures) {
    if (rule.when !== undefined && !rule.when.holds(selector, inputs)) continue;
    rule.part.disclose(builder, selector, inputs, isRequired(rule, selector, inputs));
  }
}

const isRequired = ({ required, requiredWhen }: Rule, selector: ContractSelector, inputs: EntryInputs): boolean =>
  required && (requiredWhen === undefined || requiredWhen.holds(selector, inputs));

/** Announces all lookups of a context, in two round trips. Call it only if `view.wantsPrefetch`. */
export function prefetchContext(view: View, definition: ContextDefinition, inputs: PrefetchInputs): void {
  prefetchInputs(view, definition, inputs);
  const rules = [...definition.entries, ...definition.disclosures];
  view.prefetch(() =>
    distinct(
      rules.flatMap(({ part, when }) => {
        if (when === undefined) return [part.prefetchByConfiguration?.(inputs, view) ?? []];
        return when.mayHold(view, inputs) ? lookupsOf(part, inputs, view) : [];
      }),
    ),
  );
}

/** Announces the lookups that follow from the inputs alone: the first round trip of `prefetchContext`. */
export function prefetchInputs(view: View, definition: ContextDefinition, inputs: PrefetchInputs): void {
  const rules = [...definition.entries, ...definition.disclosures];
  // A condition may depend on the configurations, which the second round trip has.
  const certain = rules.filter(({ when }) => when === undefined);
  view.prefetch(() => distinct(certain.map(({ part }) => part.prefetch?.(inputs) ?? [])));
}

const lookupsOf = (part: Prefetch, inputs: PrefetchInputs, view: View): Iterable<ContractLookup>[] => [
  part.prefetch?.(inputs) ?? [],
  part.prefetchByConfiguration?.(inputs, view) ?? [],
];

function distinct(lookups: readonly Iterable<ContractLookup>[]): Iterable<ContractLookup> {
  const byName = new Map<string, ContractLookup>();
  for (const some of lookups) {
    for (const lookup of some) byName.set("indexKey" in lookup ? lookup.indexKey : lookup.contractId, lookup);
  }
  return byName.values();
}
