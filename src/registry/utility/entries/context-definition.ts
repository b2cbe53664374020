import type { CompiledCondition } from "../contexts/conditions.js";
import { RegistryError } from "../../../domain/errors.js";
import type { ContractSelector } from "../selection/contract-selector.js";
import type { ChoiceContextBuilder } from "./choice-context-builder.js";
import type { ContextEntry, Disclosure, EntryInputs } from "./context-entry.js";

/** The context of one operation, compiled from its row of the table. */
export interface ContextDefinition {
  /** Written in this order. */
  readonly entries: readonly EntryRule[];
  /** Added in this order, after the contracts that the entries refer to. */
  readonly disclosures: readonly DisclosureRule[];
  /** Whether an instrument with `checkBlocklist` is refused: the choice would fail, and no line discloses a blocklist. */
  readonly refusesBlocklist: boolean;
  /** Whether what is not required is left out also where it is elsewhere or in reassignment. */
  readonly allowsMissing: boolean;
}

export interface EntryRule extends Rule {
  readonly part: ContextEntry;
  readonly keys: readonly string[];
}

export interface DisclosureRule extends Rule {
  /** As in the table of operations. */
  readonly name: string;
  readonly part: Disclosure;
}

interface Rule {
  readonly required: boolean;
  readonly requiredWhen: CompiledCondition | undefined;
  readonly when: CompiledCondition | undefined;
}

/** Writes the entries and disclosures of one answer. Throws a RegistryError that names all causes if it cannot be given. */
export function writeContext(
  { entries, disclosures, refusesBlocklist }: ContextDefinition,
  builder: ChoiceContextBuilder,
  selector: ContractSelector,
  inputs: EntryInputs,
): void {
  const { recorder } = selector.context;
  for (const rule of entries) {
    recorder?.entry(rule.keys);
    try {
      if (rule.when !== undefined && !rule.when(selector, inputs)) continue;
      const value = rule.part.value(builder, selector, inputs, isRequired(rule, selector, inputs));
      if (value !== undefined) builder.set(rule.keys, value);
    } catch (error) {
      failPart(selector, error);
    }
  }
  for (const rule of disclosures) {
    recorder?.entry([rule.name]);
    try {
      if (rule.when !== undefined && !rule.when(selector, inputs)) continue;
      rule.part.disclose(builder, selector, inputs, isRequired(rule, selector, inputs));
    } catch (error) {
      failPart(selector, error);
    }
  }
  selector.throwFailures(refusesBlocklist);
}

/** The part of a module may throw; the others are asked all the same. */
function failPart(selector: ContractSelector, error: unknown): void {
  if (!(error instanceof RegistryError)) throw error;
  selector.fail(error);
}

const isRequired = ({ required, requiredWhen }: Rule, selector: ContractSelector, inputs: EntryInputs): boolean =>
  required && (requiredWhen === undefined || requiredWhen(selector, inputs));
