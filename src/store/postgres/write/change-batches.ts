/** Changes as the columns of a statement. */
import type { Change } from "../../../domain/change.js";
import { type Contract, type CountedOnly, isStored } from "../../../domain/contract.js";
import { idHash, keyHash, templateHash, type LookupHash, sumHash } from "../lookup-hash.js";

/** Changes of which each is on a contract of its own, by sort. */
export interface ChangeBatch {
  readonly archived: string[];
  readonly unassigned: { readonly contractId: string; readonly counter: number }[];
  readonly active: Contract[];
  readonly counted: CountedOnly[];
}

/** A statement with more takes longer than it may. */
const MOST_CHANGES = 2_000;

/**
 * Splits changes, so that in each part a contract stands once, and none has too
 * many; the parts apply one behind the other. There is one at the least.
 */
export function batchChanges(changes: readonly Change[]): ChangeBatch[] {
  const batches: ChangeBatch[] = [newRound()];
  const sizes: number[] = [0];
  /** The first round in which each contract may stand next. */
  const next = new Map<string, number>();
  for (const change of changes) {
    const contractId = idOf(change);
    let index = next.get(contractId) ?? 0;
    while ((sizes[index] ?? 0) >= MOST_CHANGES) index++;
    next.set(contractId, index + 1);
    sizes[index] = (sizes[index] ?? 0) + 1;
    const batch = (batches[index] ??= newRound());
    if ("archived" in change) batch.archived.push(contractId);
    else if ("unassigned" in change) batch.unassigned.push({ contractId, counter: change.reassignmentCounter });
    else if (isStored(change.active)) batch.active.push(change.active);
    else batch.counted.push(change.active);
  }
  return batches;
}

const newRound = (): ChangeBatch => ({ archived: [], unassigned: [], active: [], counted: [] });

function idOf(change: Change): string {
  if ("archived" in change) return change.archived;
  return "unassigned" in change ? change.unassigned : change.active.contractId;
}

/** The columns from $7 on of the statement that applies them. */
export function toColumns({ archived, unassigned, active, counted }: ChangeBatch): unknown[] {
  const keys = active.flatMap(({ contractId, indexKeys: list }) =>
    list.map((key) => ({ contractId, key: keyHash(key) })),
  );
  const touched = new Set<LookupHash>([
    ...[...archived, ...unassigned.map(({ contractId }) => contractId)].map(idHash),
    ...active.flatMap(({ contractId, template }) => [idHash(contractId), templateHash(template)]),
    ...keys.map(({ key }) => key),
  ]);
  return [
    [...touched],
    archived,
    unassigned.map(({ contractId }) => contractId),
    unassigned.map(({ counter }) => counter),
    active.map(({ contractId }) => contractId),
    active.map(({ template }) => templateHash(template)),
    active.map(({ templateId }) => templateId),
    active.map(({ payload }) => payload),
    active.map(({ createdEventBlob }) => createdEventBlob),
    active.map(({ createdAt }) => createdAt),
    active.map(({ createdMicros }) => createdMicros),
    active.map(({ synchronizerId }) => synchronizerId ?? null),
    active.map(({ reassignmentCounter }) => reassignmentCounter),
    active.map(({ supply }) => (supply === undefined ? null : Buffer.from(supply.sum))),
    active.map(({ supply }) => supply?.amount.toString() ?? null),
    keys.map(({ contractId }) => contractId),
    keys.map(({ key }) => key),
    counted.map(({ contractId }) => contractId),
    counted.map(({ supply }) => sumHash(supply.sum)),
    counted.map(({ supply }) => supply.amount.toString()),
  ];
}
