/** What ParticipantClient is over sockets, in virtual time. */
import type { UpdateFormat, EventFormat } from "../scripted-participant/messages.js";
import { streamUpdates } from "../scripted-participant/stream-content.js";
import type { JsonValue } from "../../src/util/json.js";
import type { ReadAs } from "../../src/domain/ledger.js";
import type { Template } from "../../src/domain/template.js";
import { LedgerError } from "../../src/ledger/participant/errors.js";
import { eventFormat, KnownFilters, type Ledger, type UpdateStream } from "../../src/ledger/participant/client.js";
import { lastMessage, type VirtualParticipant, Wire } from "./participant.js";

const MESSAGE_MS = 60_000;
const OPEN_MS = 10_000;
const ANSWER_MS = 10_000;

export class VirtualClient implements Ledger {
  readonly #participant: VirtualParticipant;
  #parties: ReadAs | undefined;
  /** As which parties it may be read from now on, or why that is not told. */
  rights: ReadAs | LedgerError;
  readonly #filters: KnownFilters;
  readonly #signal: AbortSignal;
  /** What was missing when the last snapshot was requested. */
  requested: readonly string[] = [];
  #followed: Wire | undefined;
  #followedAfter = 0;

  constructor(
    participant: VirtualParticipant,
    parties: readonly string[],
    templates: readonly Template[],
    signal: AbortSignal,
    rights?: ReadAs | LedgerError,
  ) {
    this.#participant = participant;
    // Those of a user are not known before it has asked.
    this.#parties = rights === undefined ? parties : undefined;
    this.rights = rights ?? parties;
    this.#filters = new KnownFilters(templates);
    this.#signal = signal;
  }

  get parties(): ReadAs | undefined {
    return this.#parties;
  }

  async findParties(): Promise<ReadAs> {
    const { rights } = this;
    // As asking takes time.
    await this.#participant.clock.sleep(1);
    if (rights instanceof LedgerError) throw rights;
    return rights;
  }

  readAs(parties: ReadAs): void {
    this.#parties = parties;
  }

  get missing(): readonly string[] {
    return this.#filters.missing;
  }

  leaveOut({ details }: LedgerError): boolean {
    return this.#filters.leaveOut(details.missing ?? []);
  }

  include(names: readonly string[]): void {
    this.#filters.include(names);
  }

  /** A lower end is one before the stream that is followed: any other cannot be told from the ledger's. */
  ledgerEnd(): Promise<number> {
    const lower = this.#followed?.hasEnded === false && this.#followedAfter > 0 ? this.#followedAfter - 1 : Infinity;
    return this.#participant.call(({ ledger }, fault) =>
      fault === "lowerEnd" ? Math.min(lower, ledger.end) : ledger.end,
    );
  }

  prunedUpTo(): Promise<number> {
    return this.#participant.call(({ ledger }) => ledger.pruned);
  }

  async hasUpdate(updateId: string): Promise<boolean> {
    const request = { updateId, updateFormat: this.#updateFormat() };
    try {
      await this.#participant.call((calls) => calls.updateById(request));
      return true;
    } catch (error) {
      if (error instanceof LedgerError && error.code === "UPDATE_NOT_FOUND") return false;
      throw error;
    }
  }

  async findMissing(): Promise<readonly string[]> {
    const fault = this.#participant.searchFaults.shift();
    if (fault === "unanswered") await this.#participant.clock.sleep(ANSWER_MS);
    if (fault !== undefined) throw new LedgerError("lost", `the search is ${fault}`);
    const found: string[] = [];
    const activeAtOffset = await this.ledgerEnd();
    for (const name of this.missing) {
      const format = this.#eventFormat(this.#filters.of(name));
      try {
        await this.#participant.call((calls) => calls.activeContracts({ activeAtOffset, eventFormat: format }));
        found.push(name);
      } catch {
        // Still missing.
      }
    }
    return found;
  }

  packageIds(): Promise<readonly string[]> {
    return this.#participant.call(({ serving }) => [...(serving.packageNames ?? [])]);
  }

  async creation(contractId: string): Promise<JsonValue | undefined> {
    const request = { contractId, eventFormat: this.#eventFormat() };
    const { created } = await this.#participant.call((calls) => calls.eventsByContractId(request));
    return created?.createdEvent as JsonValue | undefined;
  }

  async *activeContracts(offset: number): AsyncGenerator<JsonValue> {
    const wire = await this.#open(MESSAGE_MS);
    this.requested = this.missing;
    const request = { activeAtOffset: offset, eventFormat: this.#eventFormat() };
    this.#serve(wire, async () => {
      const { calls, clock, snapshotDelays } = this.#participant;
      const elements = [...calls.activeContracts(request)];
      await clock.sleep(snapshotDelays.shift() ?? 0);
      for (const element of elements) wire.send(element);
    });
    try {
      yield* wire;
    } finally {
      wire.close();
    }
  }

  async updates(after: number, upTo?: number): Promise<UpdateStream> {
    const wire = await this.#open(upTo === undefined ? Infinity : MESSAGE_MS);
    if (upTo === undefined) [this.#followed, this.#followedAfter] = [wire, after];
    const until = upTo === undefined ? {} : { endInclusive: upTo };
    const request = { beginExclusive: after, ...until, updateFormat: this.#updateFormat() };
    this.#serve(wire, () => streamUpdates(this.#participant.calls, wire, request));
    return wire;
  }

  async #open(messageMs: number): Promise<Wire> {
    await this.#participant.arrive(OPEN_MS);
    if (this.#signal.aborted) throw new LedgerError("lost", "the service is closing its connections");
    const wire = new Wire(this.#participant, messageMs);
    const close = () => wire.close();
    this.#signal.addEventListener("abort", close);
    wire.onClosed = () => this.#signal.removeEventListener("abort", close);
    await this.#participant.clock.sleep(this.#participant.latency());
    return wire;
  }

  /** Serves a request once it has come. The stream is open before, and may be refused. */
  #serve(wire: Wire, serve: () => Promise<void>): void {
    const { clock } = this.#participant;
    clock.after(this.#participant.latency(), () => {
      if (wire.isOver) return;
      void serve()
        .catch((error: unknown) => wire.send(lastMessage(error)))
        .then(() => wire.end("closed"));
    });
  }

  #updateFormat(): UpdateFormat {
    const format = this.#eventFormat();
    const includeTransactions = { eventFormat: format, transactionShape: "TRANSACTION_SHAPE_ACS_DELTA" } as const;
    return { includeTransactions, includeReassignments: format };
  }

  #eventFormat(templates = this.#filters.present): EventFormat {
    return eventFormat(this.#parties ?? [], templates, true);
  }
}
