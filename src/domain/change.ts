import type { Contract, CountedOnly } from "./contract.js";

/** The effect of one ledger event on one contract. */
export type Change =
  /** The contract is active on its synchronizer: it was created there or assigned to it. */
  | { readonly active: Contract | CountedOnly }
  /** The contract has left its synchronizer and is not assigned to another yet. */
  | { readonly unassigned: string; readonly reassignmentCounter: number }
  | { readonly archived: string };
