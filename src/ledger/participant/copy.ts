import type { Anchor, JsonValue, StoreWriter } from "../../store/store.js";
import type { Decoder } from "../decode.js";
import type { Log } from "../log.js";
import { LedgerError } from "./errors.js";
import type { Updates } from "./ledger.js";
import type { Progress } from "./progress.js";
import type { Snapshot } from "./snapshot.js";
import { decodeUpdate, type Unreadable, type Update } from "./updates.js";

export interface CopyParts {
  readonly decoder: Decoder;
  readonly writer: StoreWriter;
  readonly progress: Progress;
  readonly log: Log;
}

/** The ledger as the store has it, and how far: puts in what is read, and nothing twice or of another history. */
export class Copy {
  readonly #parts: CopyParts;
  #anchor: Anchor | undefined;
  /** Up to here there was nothing for us behind the anchor, in the history that is followed now. */
  #seen = 0;
  #followed: Updates | undefined;

  constructor(parts: CopyParts) {
    this.#parts = parts;
    this.#anchor = parts.writer.anchor;
  }

  /** Undefined while a snapshot has to be taken. */
  get anchor(): Anchor | undefined {
    return this.#anchor;
  }

  get seen(): number {
    return this.#seen;
  }

  /** The stream that is followed now. What is left of an older one, or was fetched beside it, does not apply. */
  get followed(): Updates | undefined {
    return this.#followed;
  }

  /** A snapshot has to be taken, whatever the store has. */
  giveUp(): void {
    this.#anchor = undefined;
  }

  /** Puts a snapshot in the place of all there is; `asOf` is its time, in milliseconds since 1970. */
  async replace({ offset, contracts, unreadable }: Snapshot, asOf: number): Promise<void> {
    this.#tell(unreadable);
    await this.#parts.writer.replace(contracts, offset, asOf * 1000);
    this.#anchor = { offset, updateId: undefined };
    this.#parts.progress.reached(offset);
  }

  /**
   * From now on the updates of a stream apply, which was opened at the anchor, and
   * not behind what was seen to hold nothing for us: in a restored ledger other
   * updates may stand there.
   */
  follow(updates: Updates): void {
    this.#followed = updates;
    this.#seen = this.#anchor?.offset ?? 0;
    this.#parts.progress.reached(this.#seen);
  }

  /** From now on nothing applies. */
  leave(): void {
    this.#followed = undefined;
  }

  /** The stream and a fetch beside it may bring the same update, one behind the other. */
  async apply(element: JsonValue, followed: Updates): Promise<void> {
    const { offset, updateId, recorded, changes, unreadable } = read(element, this.#parts.decoder);
    if (updateId !== undefined && this.#isNew(offset, followed)) {
      await this.#parts.writer.apply(changes, offset, recorded, updateId);
      // The store stands there now, also where the stream has been left meanwhile.
      if (this.#anchor !== undefined && offset > this.#anchor.offset) this.#anchor = { offset, updateId };
      if (!this.#isNew(offset, followed)) return;
      this.#tell(unreadable);
    }
    this.see(offset, followed);
  }

  /** There is nothing for us up to an offset that has not been applied. */
  see(offset: number, followed: Updates): void {
    if (!this.#isNew(offset, followed)) return;
    this.#seen = offset;
    this.#parts.progress.reached(offset);
  }

  #isNew(offset: number, followed: Updates): boolean {
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

function read(element: JsonValue, decoder: Decoder): Update {
  try {
    return decodeUpdate(element, decoder);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new LedgerError("unreadable", `an update cannot be read: ${reason}`);
  }
}
