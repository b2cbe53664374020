import type { Cause } from "../../domain/cause.js";
import { causesOf, RegistryError } from "../../domain/errors.js";
import type { ChangeAttempt } from "../sdk/recorder.js";

/** As many synchronizers as a person can read about. */
const MAX_SYNCHRONIZERS = 20;

export interface FewestChanges {
  readonly changes: readonly Cause[];
  /** Why they are not about the causes, as a sentence; undefined if the causes are on the same synchronizer. */
  readonly note: string | undefined;
}

/**
 * What would have to change on the synchronizer where least has to. `refused` is the one on which the error is, if any:
 * of equally few changes those on it are preferred.
 */
export function fewestChanges(
  error: RegistryError,
  refused: string | undefined,
  found: Iterable<string>,
  attempt: ChangeAttempt,
): FewestChanges {
  const synchronizers = new Set(refused === undefined ? found : [refused, ...found]);
  // Where nothing was found yet, any will do: it tells where the contracts are.
  if (synchronizers.size === 0) synchronizers.add("");
  let best: { readonly synchronizer: string; readonly changes: readonly Cause[] } | undefined;
  let onRefused = 0;
  let tried = 0;
  // The set grows by the synchronizers that an attempt names.
  for (const synchronizer of synchronizers) {
    if (++tried > MAX_SYNCHRONIZERS) break;
    const changes = changesOn(synchronizer, attempt);
    for (const change of changes) for (const named of change.synchronizers ?? []) synchronizers.add(named);
    if (synchronizer === refused) onRefused = changes.length;
    if (best === undefined || changes.length < best.changes.length) best = { synchronizer, changes };
  }
  const { synchronizer, changes = [] } = best ?? {};
  const causes = new Set(causesOf(error).map(({ message }) => message));
  const isOther = synchronizer !== refused && changes.some(({ message }) => !causes.has(message));
  const note =
    refused !== undefined && isOther
      ? `This is for synchronizer ${synchronizer}, where fewer changes are needed (${changes.length}) than on ` +
        `synchronizer ${refused} (${onRefused}), where the causes are.`
      : undefined;
  return { changes, note };
}

function changesOn(synchronizer: string, attempt: ChangeAttempt): readonly Cause[] {
  try {
    attempt(synchronizer);
    return [];
  } catch (error) {
    if (error instanceof RegistryError) return causesOf(error);
    throw error;
  }
}
