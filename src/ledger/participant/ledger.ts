import type { JsonValue } from "../../domain/json.js";
import { LedgerError } from "./errors.js";

/** The ledger as the mirror asks it. Everything throws LedgerError. */
export interface Ledger {
  ledgerEnd(): Promise<number>;
  activeContracts(offset: number): AsyncIterable<JsonValue>;
  /** Ends when the stream is open. Without `upTo` it does not end by itself. */
  updates(after: number, upTo?: number): Promise<UpdateStream>;
  hasUpdate(updateId: string): Promise<boolean>;
  /** The offset up to which updates are no longer kept; 0 where all are. */
  prunedUpTo(): Promise<number>;
}

/**
 * A stream of updates that is open. What comes waits until it is read; where too
 * much does, the participant has to keep the rest. To be closed by its owner.
 */
export interface UpdateStream extends AsyncIterable<JsonValue> {
  /** Whether nothing more comes behind what waits. */
  readonly isOver: boolean;
  /**
   * Whether the participant answers on it now: then it is the one at which the
   * stream was opened, and has not been restored since. It cannot be heard where
   * too much waits.
   */
  answers(): Promise<boolean>;
  close(): void;
}

/** Throws "ahead" or "pruned" where the participant does not have the update at an offset. */
export async function checkHistory(ledger: Ledger, offset: number, updateId: string): Promise<void> {
  const end = await ledger.ledgerEnd();
  if (end < offset) throw new LedgerError("ahead", `the ledger ends at offset ${end}, and we have applied ${offset}`);
  if (await ledger.hasUpdate(updateId)) return;
  const isPruned = (await ledger.prunedUpTo()) >= offset;
  throw new LedgerError(
    isPruned ? "pruned" : "ahead",
    `the participant does not have the update at offset ${offset}, which we have applied`,
  );
}

/**
 * Throws why a stream is over, where it is: the last of what waits may tell. The
 * rest may be of a history that is over too. A stream that is so full that nothing
 * can be heard on it is followed unheard, as a busy ledger would never be followed
 * otherwise: where it was cut, its updates are not those of the participant that
 * is asked for them afterwards.
 */
export async function checkOpen(stream: UpdateStream): Promise<void> {
  if ((await stream.answers()) || !stream.isOver) return;
  for await (const _ of stream) continue;
  throw streamEnded();
}

/** A stream that goes on for ever did not. */
export const streamEnded = (): LedgerError => new LedgerError("lost", "the participant ended the stream of updates");
