import type { JsonValue } from "../../domain/json.js";
import type { Checkpoint, StoreWriter } from "../../store/port.js";
import type { Decoder } from "../../ledger/decode.js";
import type { Log } from "../../ledger/log.js";
import { LedgerError } from "../../ledger/participant/errors.js";
import type { UpdateStream } from "../../ledger/participant/ledger.js";
import type { LagTracker } from "./lag-tracker.js";
import type { Snapshot } from "../../ledger/participant/snapshot.js";
import { decodeUpdate, type Unreadable, type Update } from "../../ledger/participant/updates.js";

export interface StoreApplierOptions {
  readonly decoder: Decoder;
  readonly writer: StoreWriter;
  readonly lag: LagTracker;
  readonly log: Log;
}

/** The ledger as the store has it, and how far: puts in what is read, and nothing twice or of another history. */
export class StoreApplier {
  readonly #parts: StoreApplierOptions;
  #checkpoint: Checkpoint | undefined;
  /** Up to here there was nothing for us behind the anchor, in the history that is followed now. */
  #seen = 0;
  #followed: UpdateStream | undefined;
  /** Ends, and does not throw, when the last write has ended. */
  #writing: Promise<void> = Promise.resolve();

  constructor(parts: StoreApplierOptions) {
    this.#parts = parts;
    this.#checkpoint = parts.writer.checkpoint;
  }

  /** Undefined while a snapshot has to be taken. */
  get anchor(): Checkpoint | undefined {
    return this.#checkpoint;
  }

  get confirmedOffset(): number {
    return this.#seen;
  }

  /** The stream that is followed now. What is left of an older one, or was fetched beside it, does not apply. */
  get stream(): UpdateStream | undefined {
    return this.#followed;
  }

  /** A snapshot has to be taken, whatever the store has. */
  requireSnapshot(): void {
    this.#checkpoint = undefined;
  }

  /** Puts a snapshot in the place of all there is; `asOf` is its time, in milliseconds since 1970. */
  replace({ offset, contracts, unreadable }: Snapshot, asOf: number): Promise<void> {
    return this.#inTurn(async () => {
      this.#tell(unreadable);
      await this.#parts.writer.replace(contracts, offset, asOf * 1000);
      this.#checkpoint = { offset, updateId: undefined };
      this.#parts.lag.reached(offset);
    });
  }

  /**
   * From now on the updates of a stream apply, which was opened at the anchor, and
   * not behind what was seen to hold nothing for us: in a restored ledger other
   * updates may stand there.
   */
  follow(stream: UpdateStream): void {
    this.#followed = stream;
    this.#seen = this.#checkpoint?.offset ?? 0;
    this.#parts.lag.reached(this.#seen);
  }

  /** From now on nothing applies. */
  unfollow(): void {
    this.#followed = undefined;
  }

  /**
   * Applies updates in one step: a reader sees all of them or none. The stream and
   * a fetch beside it may bring the same, one behind the other.
   */
  apply(elements: readonly JsonValue[], followed: UpdateStream): Promise<void> {
    return this.#inTurn(() => this.#apply(elements, followed));
  }

  async #apply(elements: readonly JsonValue[], followed: UpdateStream): Promise<void> {
    const { updates, failure } = readAll(elements, this.#parts.decoder);
    let end = this.#seen;
    const fresh = updates.filter(({ offset }) => {
      const isFresh = offset > end;
      end = Math.max(end, offset);
      return isFresh;
    });
    const last = fresh.findLast(({ updateId }) => updateId !== undefined);
    if (last !== undefined && followed === this.#followed) {
      const { offset, updateId } = last;
      const recorded = fresh.findLast((update) => update.recorded !== undefined)?.recorded;
      const changes = fresh.flatMap((update) => update.changes);
      await this.#parts.writer.apply(changes, offset, recorded, updateId);
      // The store stands there now, also where the stream has been left meanwhile.
      if (this.#checkpoint !== undefined && offset > this.#checkpoint.offset) this.#checkpoint = { offset, updateId };
      if (followed === this.#followed) this.#tell(fresh.flatMap(({ unreadable }) => unreadable));
    }
    this.confirm(end, followed);
    if (failure !== undefined) throw failure;
  }

  /** One write behind the other: what one of them finds new the one before may bring. */
  #inTurn(write: () => Promise<void>): Promise<void> {
    const writing = this.#writing.then(write);
    this.#writing = writing.catch(() => undefined);
    return writing;
  }

  /** There is nothing for us up to an offset that has not been applied. */
  confirm(offset: number, followed: UpdateStream): void {
    if (!this.#isNew(offset, followed)) return;
    this.#seen = offset;
    this.#parts.lag.reached(offset);
  }

  #isNew(offset: number, followed: UpdateStream): boolean {
    return followed === this.#followed && offset > this.#seen;
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

/** What can be read of a list, up to what cannot. */
function readAll(elements: readonly JsonValue[], decoder: Decoder) {
  const updates: Update[] = [];
  for (const element of elements) {
    try {
      updates.push(decodeUpdate(element, decoder));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return { updates, failure: new LedgerError("unreadable", `an update cannot be read: ${reason}`) };
    }
  }
  return { updates, failure: undefined };
}
