import type { Template } from "../../../domain/template.js";
import type { ContextEntry, Disclosure } from "../entries/context-entry.js";
import type { Instruction } from "../templates/instructions.js";

/** What a module adds to the Registry Utility. docs/contexts.md has an example. */
export interface UtilityExtension {
  /** Templates of the module's entries. Package and qualified name must not be those of a template of the Registry Utility. */
  readonly templates?: readonly Template[];
  /** Entries by name. One that has `disclose` may also stand in the disclosures of an operation. */
  readonly entries?: Readonly<Record<string, ContextEntry & Partial<Disclosure>>>;
  /** Changes of the table of operations, in the form of `changes` in the contexts file. Applied before those. */
  readonly operations?: readonly object[];
  /** Further templates of allocations, besides DvpLegAllocation. */
  readonly allocations?: readonly Template<Instruction>[];
}
