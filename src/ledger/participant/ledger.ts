import type { JsonValue } from "../../domain/json.js";
import { LedgerError } from "./errors.js";

/** The calls of the ledger that the mirror needs. Every method throws LedgerError. */
export interface Ledger {
  ledgerEnd(): Promise<number>;
  activeContracts(offset: number): AsyncIterable<JsonValue>;
  /** Updates after an offset. Resolves when the stream is open. Without `upTo` the stream does not end. */
  updates(after: number, upTo?: number): Promise<UpdateStream>;
  hasUpdate(updateId: string): Promise<boolean>;
  /** The offset up to which updates are pruned; 0 if none are. */
  prunedUpTo(): Promise<number>;
}

/**
 * An open stream of updates. Messages wait in a bounded queue; when it is full, the
 * participant has to hold the rest. The owner must close the stream.
 */
export interface UpdateStream extends AsyncIterable<JsonValue> {
  /** Whether nothing will be added to the queue. */
  readonly hasEnded: boolean;
  /**
   * Whether the participant answers a ping on this stream now. If so, it has not been
   * restored since the stream was opened. False while the queue is full: then pongs
   * cannot be read.
   */
  isResponsive(): Promise<boolean>;
  close(): void;
}

/** Throws "ahead" or "pruned" if the participant does not have the update that we applied at an offset. */
export async function checkHistory(ledger: Ledger, offset: number, updateId: string): Promise<void> {
  const end = await ledger.ledgerEnd();
  if (end < offset) throw new LedgerError("ahead", `the ledger ends at offset ${end}, but we have applied ${offset}`);
  if (await ledger.hasUpdate(updateId)) return;
  const isPruned = (await ledger.prunedUpTo()) >= offset;
  throw new LedgerError(
    isPruned ? "pruned" : "ahead",
    `the participant does not have the update at offset ${offset}, which we have applied`,
  );
}

/**
 * Throws the reason if a stream has ended: its last message may be an error. Earlier
 * messages are dropped, since they may belong to a history that has ended too.
 *
 * A full stream passes although no pong can be read on it, or a busy ledger could
 * never be followed. This is safe: if the stream was cut, its updates differ from
 * those that the participant returns afterwards.
 */
export async function checkOpen(stream: UpdateStream): Promise<void> {
  if ((await stream.isResponsive()) || !stream.hasEnded) return;
  for await (const _ of stream) continue;
  throw streamEnded();
}

/** For a stream without `upTo`, which should not end. */
export const streamEnded = (): LedgerError => new LedgerError("lost", "the participant ended the stream of updates");
