/** The public types of a module that extends the Registry Utility. docs/contexts.md has an example. */
import type { Template } from "../../../domain/template.js";
import type { ContextEntry, Disclosure } from "../context.js";
import type { Instruction } from "../instructions.js";

/**
 * What a module adds to the Registry Utility. Every field is optional. The service checks it when it starts, and exits with
 * code 2 and the reasons if it is wrong.
 */
export interface UtilityExtension {
  /**
   * The templates that the module's entries look up. Package and qualified name must not be those of a template of the
   * Registry Utility. The service mirrors their contracts, so the participant must have their packages. Give each a
   * `revision`, and change it whenever `parse` returns other fields or index keys: a database is then filled again.
   */
  readonly templates?: readonly Template[];
  /**
   * Entries by name: lower-case letters, digits and hyphens, not the name of a built-in entry or disclosure. They stand in
   * the operations whose changes add them, of this module and of the operator's contexts file. An entry that has
   * `disclose` may stand among the disclosures too.
   */
  readonly entries?: Readonly<Record<string, ContextEntry & Partial<Disclosure>>>;
  /** Changes of the table of operations, in order. The changes of the operator's contexts file come after them. */
  readonly operations?: readonly OperationChange[];
  /**
   * Further templates of allocations, besides DvpLegAllocation: the choices on allocations and the settlement factory
   * accept their contracts. What applies to `templates` applies to them.
   */
  readonly allocations?: readonly Template<Instruction>[];
}

/** A change of the table of operations. `changes` of the contexts file has the same form. */
export interface OperationChange {
  /**
   * Names of operations as `offledger contexts` prints them; one that ends in `*` stands for all that begin so. Absent:
   * all operations.
   */
  readonly operations?: readonly string[];
  /** Restricts what the change adds, and requires, to some requests. */
  readonly when?: ConditionOfChange;
  /** Lines to add, after those that are there. Those with an entry write its value, those with a disclosure none. */
  readonly add?: readonly (AddedEntry | AddedDisclosure)[];
  /** Names of entries and disclosures to remove. They are removed before the others are added. */
  readonly remove?: readonly string[];
  /**
   * `required`: a party without the credentials that an instrument requires is answered 404. `optional`, which is the
   * default: its context has what there is of them.
   */
  readonly credentials?: "required" | "optional";
  /** Whether the entries app-reward-configuration and featured-app-right are written. Default false. */
  readonly rewards?: boolean;
  /**
   * `both`: every entry also stands under its bare name, which packages before Registry App 0.12 read. `prefixed`, which is
   * the default: under `utility.digitalasset.com/` alone.
   */
  readonly keys?: "prefixed" | "both";
}

export interface AddedEntry {
  /** The name of an entry: a built-in one, one of the module, or one of the contexts file. */
  readonly entry: string;
  /**
   * The keys of choiceContextData under which the value stands. `prefixed`, which is the default: the entry's name after
   * `utility.digitalasset.com/`. `both`: that, and the name alone. A list: each key in full.
   */
  readonly keys?: "prefixed" | "both" | readonly string[];
  /** Whether a request without the contract fails; see ContextEntry. Default false. No effect on reject, withdraw, cancel. */
  readonly required?: boolean;
  /** Restricts the line to some requests. Must be absent if the change has a condition. */
  readonly when?: ConditionOfChange;
}

export interface AddedDisclosure {
  /** The name of a disclosure, or of an entry that has `disclose`. */
  readonly disclosure: string;
  readonly required?: boolean;
  readonly when?: ConditionOfChange;
}

/**
 * `checkBlocklist`: an instrument of the request has checkBlocklist set. `severalInstruments`: the request is about more
 * than one. `configured`: an instrument of the request has a configuration on the synchronizer of the answer. A package: the contract on which the choice is exercised (the factory, or the instruction) was created by this
 * package, in a version of the range. The contexts file, the participant or the published packages say the
 * version of a package id; one of unknown version counts as the current version.
 */
export type ConditionOfChange =
  | "checkBlocklist"
  | "severalInstruments"
  | "configured"
  | {
      readonly package: string;
      /** The first version, such as "0.7.0". */
      readonly from?: string;
      /** The first version that is too new. At least one of `from` and `before` must be there. */
      readonly before?: string;
    };
