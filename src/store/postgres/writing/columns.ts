/** Changes as the columns of a statement. */
import { type Change, type Contract, type Counted, isHeld } from "../../store.js";
import { idName, keyName, kindName, type Name, sumName } from "../names.js";

/** Changes of which each is on a contract of its own, by sort. */
export interface Round {
  readonly archived: string[];
  readonly unassigned: { readonly contractId: string; readonly counter: number }[];
  readonly active: Contract[];
  readonly counted: Counted[];
}

/** A statement with more takes longer than it may. */
const MOST_CHANGES = 2_000;

/**
 * Splits changes, so that in each part a contract stands once, and none has too
 * many; the parts apply one behind the other. There is one at the least.
 */
export function roundsOf(changes: readonly Change[]): Round[] {
  const rounds: Round[] = [newRound()];
  const sizes: number[] = [0];
  /** The first round in which each contract may stand next. */
  const next = new Map<string, number>();
  for (const change of changes) {
    const contractId = idOf(change);
    let index = next.get(contractId) ?? 0;
    while ((sizes[index] ?? 0) >= MOST_CHANGES) index++;
    next.set(contractId, index + 1);
    sizes[index] = (sizes[index] ?? 0) + 1;
    const round = (rounds[index] ??= newRound());
    if ("archived" in change) round.archived.push(contractId);
    else if ("unassigned" in change) round.unassigned.push({ contractId, counter: change.reassignmentCounter });
    else if (isHeld(change.active)) round.active.push(change.active);
    else round.counted.push(change.active);
  }
  return rounds;
}

const newRound = (): Round => ({ archived: [], unassigned: [], active: [], counted: [] });

function idOf(change: Change): string {
  if ("archived" in change) return change.archived;
  return "unassigned" in change ? change.unassigned : change.active.contractId;
}

/** The columns from $7 on of the statement that applies them. */
export function columnsOf({ archived, unassigned, active, counted }: Round): unknown[] {
  const keys = active.flatMap(({ contractId, keys: list }) => list.map((key) => ({ contractId, key: keyName(key) })));
  const touched = new Set<Name>([
    ...[...archived, ...unassigned.map(({ contractId }) => contractId)].map(idName),
    ...active.flatMap(({ contractId, kind }) => [idName(contractId), kindName(kind)]),
    ...keys.map(({ key }) => key),
  ]);
  return [
    [...touched],
    archived,
    unassigned.map(({ contractId }) => contractId),
    unassigned.map(({ counter }) => counter),
    active.map(({ contractId }) => contractId),
    active.map(({ kind }) => kindName(kind)),
    active.map(({ templateId }) => templateId),
    active.map(({ payload }) => payload),
    active.map(({ createdEventBlob }) => createdEventBlob),
    active.map(({ createdAt }) => createdAt),
    active.map(({ createdMicros }) => createdMicros),
    active.map(({ synchronizerId }) => synchronizerId ?? null),
    active.map(({ reassignmentCounter }) => reassignmentCounter),
    active.map(({ share }) => (share === undefined ? null : Buffer.from(share.sum))),
    active.map(({ share }) => share?.amount.toString() ?? null),
    keys.map(({ contractId }) => contractId),
    keys.map(({ key }) => key),
    counted.map(({ contractId }) => contractId),
    counted.map(({ share }) => sumName(share.sum)),
    counted.map(({ share }) => share.amount.toString()),
  ];
}
