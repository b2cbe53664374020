import { type Change, type Contract, type CountedOnly, isStored } from "../../../domain/contract.js";
import { idHash, indexKeyHash, type LookupHash, registrarHashOf, sumHash, templateHash } from "../../lookup-hash.js";

/** Changes to different contracts, by type. */
export interface ChangeBatch {
  readonly archived: string[];
  readonly unassigned: { readonly contractId: string; readonly counter: number }[];
  readonly active: Contract[];
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

/** The parameters of applyStatement from $7 on. */
export function toParameters({ archived, unassigned, active, countedOnly }: ChangeBatch): unknown[] {
  const keys = active.flatMap(({ contractId, indexKeys }) =>
    indexKeys.map((key) => ({ contractId, hash: indexKeyHash(key) })),
  );
  const invalidated = new Set<LookupHash>([
    ...[...archived, ...unassigned.map(({ contractId }) => contractId)].map(idHash),
    ...active.flatMap((contract) => [
      idHash(contract.contractId),
      templateHash(contract.template),
      registrarHashOf(contract),
    ]),
    ...keys.map(({ hash }) => hash),
  ]);
  return [
    [...invalidated],
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
    keys.map(({ hash }) => hash),
    countedOnly.map(({ contractId }) => contractId),
    countedOnly.map(({ supply }) => sumHash(supply.sum)),
    countedOnly.map(({ supply }) => supply.amount.toString()),
    active.map(registrarHashOf),
  ];
}
