import type { JsonValue, StoreWriter } from "../../store/store.js";
import { type Decoder, type Entry, later } from "../decode.js";
import type { Log } from "../log.js";
import { pauseAfter } from "./backoff.js";
import { LedgerError } from "./errors.js";
import { Incidents } from "./incidents.js";
import type { Progress } from "./progress.js";
import { decodeUpdate, type Unreadable } from "./updates.js";

/** The ledger as the mirror asks it. Everything throws LedgerError. */
export interface Ledger {
  ledgerEnd(): Promise<number>;
  activeContracts(offset: number): AsyncIterable<JsonValue>;
  /** Without `upTo` it does not end by itself. */
  updates(after: number, upTo?: number): AsyncIterable<JsonValue>;
  hasUpdate(updateId: string): Promise<boolean>;
  /** The offset up to which updates are no longer kept; 0 where all are. */
  prunedUpTo(): Promise<number>;
}

export interface MirrorParts {
  readonly ledger: Ledger;
  readonly decoder: Decoder;
  readonly writer: StoreWriter;
  readonly progress: Progress;
  readonly log: Log;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Numbers from 0 to 1. */
  readonly random: () => number;
  /** Waits; ends early, and does not throw, when the signal is aborted. */
  readonly pause: (milliseconds: number) => Promise<void>;
  /** Aborted when the mirror has to end. */
  readonly signal: AbortSignal;
}

/** How often one update may be unreadable before a snapshot is taken in its place. */
const UNREADABLE_LIMIT = 3;
/** An attempt that lasted this long was no failure, however it ended. */
const STEADY_MS = 30_000;
/** How often the ledger's end is looked at, in milliseconds. */
const POLL_MS = 1_000;

/**
 * Keeps the store equal to the ledger: takes a snapshot, follows the updates,
 * and comes back from whatever goes wrong, while the store goes on serving what
 * it has.
 */
export class Mirror {
  readonly #parts: MirrorParts;
  readonly #incidents: Incidents;
  /**
   * The update at which the store stands: a history in which it stands at this
   * place is ours up to here. Undefined while a snapshot has to be taken; the id
   * is, until the first update behind one is applied.
   */
  #anchor: { readonly offset: number; readonly updateId: string | undefined } | undefined;
  /** Up to here there was nothing for us behind the anchor, in the history that is followed now. */
  #seen = 0;
  /** Counts the histories that were followed: what is left of an older one does not apply. */
  #history = 0;
  #failures = 0;
  #unreadable = 0;

  constructor(parts: MirrorParts) {
    this.#parts = parts;
    this.#incidents = new Incidents(parts.log, parts.now);
  }

  /** Ends when the signal is aborted, and not before. */
  async run(): Promise<void> {
    await Promise.all([this.#keepFollowing(), this.#keepAsking()]);
  }

  async #keepFollowing(): Promise<void> {
    const { random, now, pause } = this.#parts;
    while (!this.#isOver()) {
      const begun = now();
      try {
        // After a cut nothing tells a restored ledger from ours where we know no update of it.
        if (this.#anchor?.updateId === undefined) await this.#takeSnapshot();
        else await this.#checkHistory(this.#anchor.offset, this.#anchor.updateId);
        await this.#follow();
      } catch (error) {
        if (this.#isOver()) return;
        const failure = asLedgerError(error);
        this.#failures = now() - begun > STEADY_MS ? 1 : this.#failures + 1;
        // A token that has ended is no trouble yet: the next attempt brings a new one.
        if (failure.trouble !== "denied" || this.#failures > 1) this.#incidents.begin(failure);
        this.#considerSnapshot(failure);
        await pause(pauseAfter(failure.trouble, this.#failures, random));
      }
    }
  }

  /** Asks for the ledger's end again and again, and fetches what the stream has not brought. */
  async #keepAsking(): Promise<void> {
    const { ledger, progress, now, pause } = this.#parts;
    let behind: number | undefined;
    while (!this.#isOver()) {
      await pause(POLL_MS);
      if (this.#isOver() || this.#anchor === undefined) continue;
      try {
        const asked = now();
        const end = await ledger.ledgerEnd();
        progress.ended(end, asked);
        // An end that has not been reached a poll later may hold nothing for us, or be held up.
        if (behind !== undefined && this.#seen < behind) await this.#fetchUpTo(behind);
        behind = this.#seen < end ? end : undefined;
      } catch {
        // The following runs into the same trouble, and tells it.
        behind = undefined;
      }
    }
  }

  async #takeSnapshot(): Promise<void> {
    const { ledger, decoder, writer, progress, log, now } = this.#parts;
    // What is still under way belongs to what the snapshot replaces.
    this.#history++;
    const asked = now();
    const end = await ledger.ledgerEnd();
    const entries = new Map<string, Entry>();
    const unreadable: Unreadable[] = [];
    for await (const element of ledger.activeContracts(end)) {
      const entry = decode(element, decoder, unreadable);
      if (entry === undefined) continue;
      const { contractId } = entry.contract;
      const known = entries.get(contractId);
      entries.set(contractId, known === undefined ? entry : (later(known, entry) ?? entry));
    }
    this.#tell(unreadable);
    await writer.replace(
      [...entries.values()].map(({ contract }) => contract),
      end,
      asked * 1000,
    );
    this.#anchor = { offset: end, updateId: undefined };
    progress.reached(end);
    progress.ended(end, asked);
    log.info({ offset: end, contracts: entries.size, took: now() - asked }, "a snapshot of the ledger has been taken");
    this.#recovered();
  }

  /** Throws "ahead" or "pruned" where the participant does not have the update at which the store stands. */
  async #checkHistory(offset: number, updateId: string): Promise<void> {
    const { ledger } = this.#parts;
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
   * Follows the updates behind the anchor, and not behind what was seen to hold
   * nothing for us: in a restored ledger other updates may stand there.
   */
  async #follow(): Promise<never> {
    const history = ++this.#history;
    const { offset } = this.#anchor ?? { offset: 0 };
    this.#seen = offset;
    this.#parts.progress.reached(offset);
    for await (const element of this.#parts.ledger.updates(offset)) {
      await this.#apply(element, history);
      this.#recovered();
    }
    throw new LedgerError("lost", "the participant ended the stream of updates");
  }

  /** Brings the store to an end of the ledger for sure, whatever the stream is doing. */
  async #fetchUpTo(end: number): Promise<void> {
    const history = this.#history;
    for await (const element of this.#parts.ledger.updates(this.#seen, end)) await this.#apply(element, history);
    this.#see(end, history);
  }

  /** The stream and a fetch may bring the same update, one behind the other, and one of a history that is over. */
  async #apply(element: JsonValue, history: number): Promise<void> {
    const { offset, updateId, recorded, changes, unreadable } = read(() => decodeUpdate(element, this.#parts.decoder));
    const isNew = () => history === this.#history && offset > this.#seen;
    if (updateId !== undefined && isNew()) {
      await this.#parts.writer.apply(changes, offset, recorded);
      if (!isNew()) return;
      this.#tell(unreadable);
      this.#anchor = { offset, updateId };
    }
    this.#see(offset, history);
  }

  #see(offset: number, history: number): void {
    if (history !== this.#history || offset <= this.#seen) return;
    this.#seen = offset;
    this.#parts.progress.reached(offset);
  }

  #isOver(): boolean {
    return this.#parts.signal.aborted;
  }

  #recovered(): void {
    this.#failures = 0;
    this.#unreadable = 0;
    this.#incidents.end();
  }

  #considerSnapshot({ trouble }: LedgerError): void {
    if (trouble === "unreadable") this.#unreadable++;
    if (trouble === "pruned" || trouble === "ahead" || this.#unreadable >= UNREADABLE_LIMIT) {
      this.#anchor = undefined;
      this.#unreadable = 0;
    }
  }

  #tell(unreadable: readonly Unreadable[]): void {
    for (const { contractId, reason } of unreadable) {
      this.#parts.log.error(
        { contractId, reason },
        "a contract cannot be read and is treated as if it were not there; look for a newer release of this service",
      );
    }
  }
}

/** An element of the active contracts. One that cannot be read is left out and told. */
function decode(element: JsonValue, decoder: Decoder, unreadable: Unreadable[]): Entry | undefined {
  try {
    return decoder.decode(element);
  } catch (error) {
    unreadable.push({ contractId: "of an active contract", reason: messageOf(error) });
    return undefined;
  }
}

function read<T>(decoding: () => T): T {
  try {
    return decoding();
  } catch (error) {
    throw new LedgerError("unreadable", `an update cannot be read: ${messageOf(error)}`);
  }
}

/** Whatever else is thrown comes from the store or from a defect; the mirror goes on all the same. */
function asLedgerError(error: unknown): LedgerError {
  return error instanceof LedgerError ? error : new LedgerError("lost", messageOf(error));
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
