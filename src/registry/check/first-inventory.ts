import { NotReady, type StoreScan, StoreUnavailable } from "../../store/port.js";
import { abortablePause } from "../../util/async.js";
import { errorMessage, type Logger } from "../../util/logger.js";
import type { Inventory, Registry } from "../sdk/registry.js";
import { partyWarnings, scanInventory, withPartyWarnings } from "./scan.js";

export interface FirstInventoryOptions {
  readonly registry: Registry;
  readonly source: {
    /** Undefined if the store is current. */
    notReadyReason(): string | undefined;
    openScan(): StoreScan;
  };
  readonly credentialDays: number;
  /** The parties whose contracts a ledger is read for; undefined for another source. */
  readonly parties: readonly string[] | undefined;
  /** How many contracts of each template are checked. */
  readonly maxContracts: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly log: Logger;
}

const POLL_MS = 100;
const RETRY_MS = 1_000;
/** The database may fail in between. */
const MAX_ATTEMPTS = 10;

/** Reads the inventory of a mirrored ledger or a database once, when it is ready for the first time. */
export class FirstInventory {
  readonly #options: FirstInventoryOptions;
  readonly #end = new AbortController();
  readonly #pause = abortablePause(this.#end.signal);
  #running: Promise<Inventory | undefined> | undefined;

  constructor(options: FirstInventoryOptions) {
    this.#options = options;
  }

  /** Undefined after `close`, or if the store cannot be read, which is logged. Never rejects. */
  read(): Promise<Inventory | undefined> {
    return (this.#running ??= this.#read());
  }

  async close(): Promise<void> {
    this.#end.abort();
    await this.#running;
  }

  async #read(): Promise<Inventory | undefined> {
    const { signal } = this.#end;
    for (let attempts = 1; await this.#isReady(); attempts++) {
      try {
        const inventory = await this.#scan();
        return signal.aborted ? undefined : this.#checkParties(inventory);
      } catch (error) {
        const isTemporary = error instanceof NotReady || error instanceof StoreUnavailable;
        if (!isTemporary || attempts === MAX_ATTEMPTS) {
          if (!signal.aborted) this.#options.log.warn({ reason: errorMessage(error) }, "inventory not printed");
          return undefined;
        }
        await this.#pause(RETRY_MS);
      }
    }
    return undefined;
  }

  #checkParties(inventory: Inventory): Inventory {
    const { parties, log } = this.#options;
    if (parties === undefined) return inventory;
    for (const warning of partyWarnings(inventory, parties)) log.warn({ parties }, warning);
    return withPartyWarnings(inventory, parties);
  }

  /** Waits until the source is ready. False after `close`. */
  async #isReady(): Promise<boolean> {
    const { signal } = this.#end;
    while (!signal.aborted && this.#options.source.notReadyReason() !== undefined) await this.#pause(POLL_MS);
    return !signal.aborted;
  }

  #scan(): Promise<Inventory> {
    const { registry, source, ...options } = this.#options;
    return scanInventory(source.openScan(), registry, { ...options, pause: this.#pause, signal: this.#end.signal });
  }
}
