import type { JsonValue } from "../../domain/json.js";
import { LedgerError } from "./errors.js";

/** The calls of the ledger that the mirror needs. Every method throws LedgerError. */
export interface Ledger {
  ledgerEnd(): Promise<number>;
  activeContracts(offset: number): AsyncIterable<JsonValue>;
  /** Updates after an offset. Resolves when the stream is open. Without `upTo` the stream does not end. */
  updates(after: number, upTo?: number): Promise<UpdateStream>;
  hasUpdate(updateId: string): Promise<boolean>;
  prunedUpTo(): Promise<number>;
  /** Packages and templates that the participant does not have: their contracts are not read. */
  readonly missing: readonly string[];
  /** Leaves out what an error says is missing. False if nothing new is, or if nothing is left to read. */
  leaveOut(error: LedgerError): boolean;
  /** Looks for what is missing. */
  findMissing(): Promise<readonly string[]>;
  /** Reads what was found from now on. */
  include(names: readonly string[]): void;
}

/** An open stream of updates, which its owner must close. A bounded queue holds messages until they are read. */
export interface UpdateStream extends AsyncIterable<JsonValue> {
  readonly hasEnded: boolean;
  /** Whether a ping is answered: then the stream's history still holds. False while full: no pong can be read. */
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
 * Throws if a stream has ended. Drops its messages: they may be of an ended history. A full stream passes, or a busy
 * ledger could never be followed. This is safe: if it was cut, its updates differ from those returned later.
 */
export async function checkOpen(stream: UpdateStream): Promise<void> {
  if ((await stream.isResponsive()) || !stream.hasEnded) return;
  for await (const _ of stream) continue;
  throw streamEnded();
}

/** For a stream without `upTo`, which should not end. */
export const streamEnded = (): LedgerError => new LedgerError("lost", "the participant ended the stream of updates");
