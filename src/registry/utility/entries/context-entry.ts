import type { Contract } from "../../../domain/contract.js";
import type { ContractLookup, View } from "../../../store/port.js";
import type { AnyValue } from "../../sdk/registry.js";
import type { ContractSelector } from "../selection/contract-selector.js";
import type { Holder } from "../selection/requirements.js";
import type { Instruction } from "../templates/instructions.js";
import type { ChoiceContextBuilder } from "./choice-context-builder.js";

/** What the entries of one request are about. A field is undefined if the operation has no such thing. */
export interface EntryInputs {
  /** Ids of the instruments, each once. */
  readonly instruments: readonly string[];
  /** Undefined if the instrument's configuration names the provider. */
  readonly provider?: string | undefined;
  /** Undefined also for a special account; `receiver` too. */
  readonly sender?: string | undefined;
  /** The instruments that the sender gives away; undefined means all. */
  readonly sent?: readonly string[] | undefined;
  readonly receiver?: string | undefined;
  /** The parties whose holdings are minted or burned. */
  readonly issuers?: readonly string[] | undefined;
  readonly holders?: readonly Holder[] | undefined;
  readonly factory?: Contract | undefined;
  readonly lockedHolding?: string | undefined;
  readonly allocations?: readonly Contract<Instruction>[] | undefined;
  /** The contract on which the choice is exercised: the factory or the instruction. */
  readonly subject?: Contract | undefined;
}

/** Inputs known before a factory is chosen. */
export interface PrefetchInputs extends EntryInputs {
  readonly registrar: string;
  /** The providers of all candidate factories. */
  readonly providers?: readonly string[] | undefined;
}

/** Lookups that a store can fetch in one round trip. */
export interface Prefetch {
  /** The first round trip: lookups that follow from the inputs. */
  prefetch?(inputs: PrefetchInputs): Iterable<ContractLookup>;
  /** The second round trip: lookups that follow from the configurations, which `view` now has. */
  prefetchByConfiguration?(inputs: PrefetchInputs, view: View): Iterable<ContractLookup>;
}

/** An entry of a choice context: how its contracts are found, prefetched and written. contexts.yaml has its keys. */
export interface ContextEntry extends Prefetch {
  /**
   * Returns the value, or undefined to leave the entry out. Throws RegistryError "conflict" for a contract in
   * reassignment, and, if the entry is `required`, "not-found" for a missing one.
   */
  value(
    builder: ChoiceContextBuilder,
    selector: ContractSelector,
    inputs: EntryInputs,
    required: boolean,
  ): AnyValue | undefined;
}

/** Contracts that a choice needs although no entry refers to them. */
export interface Disclosure extends Prefetch {
  /** Throws as `ContextEntry.value` does. */
  disclose(builder: ChoiceContextBuilder, selector: ContractSelector, inputs: EntryInputs, required: boolean): void;
}
