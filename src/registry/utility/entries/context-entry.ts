import type { Contract } from "../../../domain/contract.js";
import type { AnyValue } from "../../sdk/registry.js";
import type { ContractSelector } from "../selection/contract-selector.js";
import type { Holder } from "../selection/credentials.js";
import type { Instruction } from "../templates/instructions.js";
import type { ChoiceContextBuilder } from "./choice-context-builder.js";

/**
 * What the entries of one request are about. A field is undefined if the operation has no such thing. Parties are never
 * those of special accounts (the source of a mint, the target of a burn).
 */
export interface EntryInputs {
  /**
   * Ids of the instruments, each once. One for most operations, several for a settlement or an allocation with several
   * legs, none for a committed allocation whose legs are given later.
   */
  readonly instruments: readonly string[];
  /**
   * The provider of the request: that of the instruction, or of the instrument's configuration. Undefined only for an
   * instruction of a module that names none.
   */
  readonly provider?: string | undefined;
  /** The sender of a transfer or of the leg of an allocation; the authorizer of an allocation of version 2. */
  readonly sender?: string | undefined;
  /** The instruments that the sender gives away; undefined means all. */
  readonly sent?: readonly string[] | undefined;
  /** The receiver of a transfer or of the leg of an allocation. Undefined while an allocation is created. */
  readonly receiver?: string | undefined;
  /** The parties whose holdings are minted or burned, each once. */
  readonly issuers?: readonly string[] | undefined;
  /** The parties of a settlement, each once, with the instruments that it sends or receives. */
  readonly holders?: readonly Holder[] | undefined;
  /** The factory of a factory operation, on the synchronizer of the answer. */
  readonly factory?: Contract | undefined;
  /** Contract id of the holding that the instruction has locked. */
  readonly lockedHolding?: string | undefined;
  /** Further holdings that it has locked. */
  readonly otherLockedHoldings?: readonly string[] | undefined;
  /** The known allocations of a settlement, in the order of the request. Some may be elsewhere or in reassignment. */
  readonly allocations?: readonly Contract<Instruction>[] | undefined;
  /** The contract on which the choice is exercised: the factory or the instruction. */
  readonly subject?: Contract | undefined;
}

/**
 * An entry of a choice context: how its contracts are found and written. The table of operations has the keys
 * under which the value stands. Methods are synchronous and keep no state, and rethrow what is not a RegistryError: a
 * store that has to fetch lets them find nothing, and calls them again.
 */
export interface ContextEntry {
  /**
   * Finds the contracts and returns the value; undefined leaves the entry out. `builder` makes values that refer to
   * contracts, and discloses these. `selector` has the contracts, and chooses among candidates. The rules that every
   * entry should follow:
   *
   * - Found on the synchronizer of the answer: the newest (`selector.newest`).
   * - Otherwise `selector.missing` decides: "conflict" (409) for a candidate in reassignment; if the entry is `required`,
   *   "not-found" (404) without candidates and "conflict" with candidates elsewhere. Else it returns undefined.
   *
   * `required` is as the line of the table says, and never true for reject, withdraw and cancel.
   */
  value(
    builder: ChoiceContextBuilder,
    selector: ContractSelector,
    inputs: EntryInputs,
    required: boolean,
  ): AnyValue | undefined;
}

/** Contracts that a choice needs although no entry refers to them. */
export interface Disclosure {
  /** Finds the contracts and passes each to `builder.disclose`. Throws as `ContextEntry.value` does. */
  disclose(builder: ChoiceContextBuilder, selector: ContractSelector, inputs: EntryInputs, required: boolean): void;
}
