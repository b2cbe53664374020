import { namesOf, type ReadAs } from "../../domain/ledger.js";
import type { ChangeFeed, StoreReader } from "../../state/port.js";
import { abortablePause } from "../../util/async.js";
import { errorMessage, type Logger } from "../../util/logger.js";
import type { Inventory, Registry } from "../sdk/registry.js";
import { describeWarning, type Warning, warningOf } from "../sdk/warnings.js";
import { partyWarnings } from "./scan.js";

export interface RegistrarMonitorOptions {
  readonly registry: Pick<Registry, "inventory">;
  readonly source: {
    readonly changes: Pick<ChangeFeed, "position">;
    readonly reader: StoreReader;
    /** The parties whose contracts a ledger is read for; undefined if they are not known, and for another source. */
    parties(): ReadAs | undefined;
  };
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** A monotonic clock, in milliseconds. */
  readonly clock: () => number;
  readonly log: Logger;
}

const POLL_MS = 1_000;

/**
 * Looks at each snapshot for what its parties see, and whether a registrar is left: of another participant, or an empty one,
 * every answer is "not found", though the service follows the ledger. Between snapshots it looks only for a registrar that
 * comes: what the ledger archives is gone by somebody's will.
 */
export class RegistrarMonitor {
  readonly #end = new AbortController();
  readonly #pause = abortablePause(this.#end.signal);
  readonly #running: Promise<void>;
  #looked: { readonly generation: string; readonly offset: number } | undefined;
  /** Of the latest state that had any. */
  #registrars = 0;
  #emptySince: number | undefined;
  #partyWarnings: readonly string[] = [];
  #failure: string | undefined;

  constructor(private readonly options: RegistrarMonitorOptions) {
    this.#running = this.#run();
  }

  /** Empty while a registrar is served, and before the first state. */
  warnings(): readonly Warning[] {
    return this.#emptySince === undefined ? [] : [noRegistrar(this.options.source.parties())];
  }

  async close(): Promise<void> {
    this.#end.abort();
    await this.#running;
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    for (; !this.#end.signal.aborted; await this.#pause(POLL_MS)) {
      const { position } = this.options.source.changes;
      if (position === undefined) continue;
      const isSnapshot = position.generation !== this.#looked?.generation;
      const isMoved = this.#emptySince !== undefined && position.offset !== this.#looked?.offset;
      if (!isSnapshot && !isMoved) continue;
      try {
        const { registry, source, now } = this.options;
        const at = now();
        const inventory = source.reader.read((view) => registry.inventory(view, { now: at, credentialDays: 0 }));
        if (isSnapshot) this.#checkParties(inventory);
        this.#check(inventory.registrars.length);
        this.#looked = position;
        this.#failure = undefined;
      } catch (error) {
        // The store may fail for some time: it is looked at again.
        const reason = errorMessage(error);
        if (this.#failure === undefined) this.options.log.warn({ reason }, "registrars not looked for; retrying");
        this.#failure = reason;
      }
    }
  }

  #check(registrars: number): void {
    const { source, clock, log } = this.options;
    const parties = source.parties();
    if (registrars > 0) {
      if (this.#emptySince !== undefined) {
        log.info({ registrars, lasted: clock() - this.#emptySince }, "registrars are served again");
      }
      this.#emptySince = undefined;
      this.#registrars = registrars;
      return;
    }
    // A file of an operator may have none. So may a new ledger, but then its parties are told with the warning.
    if (this.#emptySince !== undefined || (this.#registrars === 0 && parties === undefined)) return;
    this.#emptySince = clock();
    if (this.#registrars === 0) return;
    const { problem, help: hint } = noRegistrar(parties);
    log.error(
      { parties, registrars: this.#registrars, reason: problem, hint },
      "all registrars are lost: answers are 404",
    );
  }

  #checkParties(inventory: Inventory): void {
    const { source, log } = this.options;
    const parties = source.parties();
    const found = parties === undefined ? [] : partyWarnings(inventory, parties).map(describeWarning);
    for (const warning of found) if (!this.#partyWarnings.includes(warning)) log.warn({ parties }, warning);
    this.#partyWarnings = found;
  }
}

const noRegistrar = (parties: ReadAs | undefined): Warning => {
  const message = `no contract of a registrar is visible${parties === undefined ? "" : ` to ${namesOf(parties)}`}`;
  return warningOf({ code: "no-registrar", message }, { operations: ["all operations"], refusal: "not-found" });
};
