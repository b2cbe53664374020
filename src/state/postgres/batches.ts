/** The changes of an update, in the order in which statements apply them. */
import { type Change, type CountedOnly, isStored, type StoredContract } from "../../domain/contract.js";

/** Changes to different contracts, by type. */
export interface ChangeBatch {
  readonly archived: string[];
  readonly unassigned: { readonly contractId: string; readonly counter: number }[];
  readonly active: StoredContract[];
  readonly countedOnly: CountedOnly[];
}

/** Keeps a statement well below its timeout. */
const MAX_CHANGES = 2_000;

/** Splits changes into at least one batch, to apply in order. A batch has at most one change for each contract. */
export function batchChanges(changes: readonly Change[]): ChangeBatch[] {
  const batches: ChangeBatch[] = [emptyBatch()];
  const sizes: number[] = [0];
  /** The first batch that the next change to a contract may join. */
  const nextIndexes = new Map<string, number>();
  for (const change of changes) {
    const contractId = contractIdOf(change);
    let index = nextIndexes.get(contractId) ?? 0;
    while ((sizes[index] ?? 0) >= MAX_CHANGES) index++;
    nextIndexes.set(contractId, index + 1);
    sizes[index] = (sizes[index] ?? 0) + 1;
    const batch = (batches[index] ??= emptyBatch());
    if ("archived" in change) batch.archived.push(contractId);
    else if ("unassigned" in change) batch.unassigned.push({ contractId, counter: change.reassignmentCounter });
    else if (isStored(change.active)) batch.active.push(change.active);
    else batch.countedOnly.push(change.active);
  }
  return batches;
}

const emptyBatch = (): ChangeBatch => ({ archived: [], unassigned: [], active: [], countedOnly: [] });

function contractIdOf(change: Change): string {
  if ("archived" in change) return change.archived;
  return "unassigned" in change ? change.unassigned : change.active.contractId;
}
