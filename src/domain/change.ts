import type { Contract, CountedOnly } from "./contract.js";

/** What one event of the ledger does to a contract. */
export type Change =
  /** It is active on its synchronizer: created there, or assigned to it. */
  | { readonly active: Contract | CountedOnly }
  /** It has left its synchronizer and not arrived at another. */
  | { readonly unassigned: string; readonly reassignmentCounter: number }
  | { readonly archived: string };
