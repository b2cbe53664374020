/** Looks single things up at a participant: past updates, creations, contracts by id. */
import { errorMessage } from "../../util/logger.js";
import { abortAfter, withTimeout } from "../../util/async.js";
import { isStored } from "../../domain/contract.js";
import {
  type ContractSource,
  type Created,
  type Exercised,
  MAX_READ_BY_ID,
  type OnLedger,
  type ReadAs,
  type Update,
} from "../../domain/ledger.js";
import type { JsonObject } from "../../util/json.js";
import type { Template } from "../../domain/template.js";
import { Decoder, findTemplate } from "../decode.js";
import { requireObject, requireString } from "../json-fields.js";
import { eventFormat, eventFormatOf, KnownFilters } from "./client.js";
import { LedgerError, readable } from "./errors.js";
import { callParticipant, type Endpoint } from "./http.js";
import type { PartySource } from "./parties.js";

const EVENTS_BY_CONTRACT_ID = "/v2/events/events-by-contract-id";

/** Error codes for an unknown update or contract, and for a malformed id. Other missing things are failures. */
const NOT_FOUND_CODES = new Set(["UPDATE_NOT_FOUND", "CONTRACT_EVENTS_NOT_FOUND", "INVALID_FIELD", "INVALID_ARGUMENT"]);

const MAX_CONCURRENT_LOOKUPS = 64;

/** Calls of one kind, a bounded number at a time. */
class Lookups {
  #inFlight = 0;

  constructor(private readonly name: string) {}

  /** Undefined for what the participant does not know, or has pruned, which cannot be told apart. Throws LedgerError. */
  async call(endpoint: Endpoint, path: string, request: JsonObject): Promise<JsonObject | undefined> {
    if (this.#inFlight >= MAX_CONCURRENT_LOOKUPS) {
      throw new LedgerError("busy", `${MAX_CONCURRENT_LOOKUPS} lookups of ${this.name} are in progress`);
    }
    this.#inFlight++;
    try {
      const body = await callParticipant(endpoint, "POST", path, request);
      return decoded(() => requireObject(body, "the answer"));
    } catch (error) {
      const isNotFound =
        error instanceof LedgerError && (error.kind === "pruned" || NOT_FOUND_CODES.has(error.code ?? ""));
      if (isNotFound) return undefined;
      throw error;
    } finally {
      this.#inFlight--;
    }
  }
}

const decoded = <T>(decode: () => T): T => readable("what was looked up cannot be decoded", decode);

/** How long to wait for an update that our participant may not have yet. */
export interface PollOptions {
  readonly maxWait: number;
  readonly clock: () => number;
  readonly pause: (milliseconds: number) => Promise<void>;
}

const POLL_MS = 200;
/** Between the last query and the end of the wait: more than a query takes. */
const LAST_QUERY_MS = 150;

/** Looks up past updates at a participant. Every method throws LedgerError. */
export class ParticipantHistory {
  readonly #lookups = new Lookups("past updates");

  constructor(
    private readonly endpoint: Endpoint,
    private readonly parties: PartySource,
    private readonly polling: PollOptions,
  ) {}

  /** One update with its events, exercised choices included. Undefined if there is none that our parties can see. */
  async update(
    which: { readonly updateId: string } | { readonly offset: number },
    templates: readonly Template[],
  ): Promise<Update | undefined> {
    const format = eventFormatOf(await this.parties.current(), templates);
    const transactions = { eventFormat: format, transactionShape: "TRANSACTION_SHAPE_LEDGER_EFFECTS" };
    const request = { ...which, updateFormat: { includeTransactions: transactions } };
    const path = "updateId" in which ? "/v2/updates/update-by-id" : "/v2/updates/update-by-offset";
    const body = await this.#lookups.call(this.endpoint, path, request);
    return body === undefined ? undefined : decoded(() => ({ events: decodeEvents(body, templates) }));
  }

  /**
   * Repeats a query until it returns a value, for as long as an update may be in transit to our participant. Without a
   * value the whole wait passes, however many look-ups the queries made: its length tells a stranger nothing.
   */
  async pollUntil<T>(query: () => Promise<T | undefined>): Promise<T | undefined> {
    const { maxWait, clock, pause } = this.polling;
    const deadline = clock() + maxWait;
    for (;;) {
      const result = await query();
      const remaining = deadline - clock();
      if (result !== undefined || remaining <= 0 || this.endpoint.signal.aborted) return result;
      if (remaining <= LAST_QUERY_MS) {
        await pause(remaining);
        return undefined;
      }
      await pause(Math.min(POLL_MS, remaining - LAST_QUERY_MS));
    }
  }

  /** The creation of a contract, active or archived. Undefined if it is unknown or pruned. */
  async creation(contractId: string, templates: readonly Template[]): Promise<Created | undefined> {
    const request = { contractId, eventFormat: eventFormatOf(await this.parties.current(), templates) };
    const body = await this.#lookups.call(this.endpoint, EVENTS_BY_CONTRACT_ID, request);
    const created = body?.created;
    if (created === undefined || created === null) return undefined;
    return decoded(() => {
      const event = requireObject(requireObject(created, "created").createdEvent, "createdEvent");
      return decodeCreated(event, templates);
    });
  }
}

/** Empty for an update that is not a transaction. */
function decodeEvents(body: JsonObject, templates: readonly Template[]): (Created | Exercised)[] {
  const { Transaction } = requireObject(body.update, "update");
  if (Transaction === undefined) return [];
  const { events } = requireObject(requireObject(Transaction, "Transaction").value, "value");
  if (!Array.isArray(events)) throw new Error("events must be a list");
  return events.flatMap((event) => {
    const { CreatedEvent, ExercisedEvent } = requireObject(event, "event");
    if (CreatedEvent !== undefined) return decodeCreated(requireObject(CreatedEvent, "CreatedEvent"), templates) ?? [];
    if (ExercisedEvent !== undefined) {
      return decodeExercised(requireObject(ExercisedEvent, "ExercisedEvent"), templates) ?? [];
    }
    throw new Error("an event must be a CreatedEvent or an ExercisedEvent");
  });
}

function decodeCreated(event: JsonObject, templates: readonly Template[]): Created | undefined {
  const template = findTemplate(event, templates);
  if (template === undefined) return undefined;
  const { offset } = event;
  if (typeof offset !== "number") throw new Error("offset must be a number");
  const payload = requireObject(event.createArgument, "createArgument");
  return { does: "create", template, contractId: requireString(event, "contractId"), payload, offset };
}

function decodeExercised(event: JsonObject, templates: readonly Template[]): Exercised | undefined {
  const template = findTemplate(event, templates);
  if (template === undefined) return undefined;
  const { consuming } = event;
  if (typeof consuming !== "boolean") throw new Error("consuming must be true or false");
  return {
    does: "exercise",
    template,
    contractId: requireString(event, "contractId"),
    choice: requireString(event, "choice"),
    argument: event.choiceArgument ?? null,
    result: event.exerciseResult ?? null,
    consuming,
  };
}

const MAX_CONCURRENT = 8;
/** After this time the participant is asked again for what it lacked. */
const LACKING_MS = 30_000;

export interface ContractsOptions {
  readonly templates: readonly Template[];
  /** As in KeptContracts. */
  readonly registrars: readonly string[];
  /** For all contracts of one request, in milliseconds. */
  readonly maxWait: number;
  /** A monotonic clock, in milliseconds. */
  readonly clock: () => number;
  /** Called once for a request of which contracts could not be read. */
  readonly onFailure: (error: LedgerError) => void;
}

/** Looks contracts up at a participant, by contract id. */
export class ParticipantContracts implements ContractSource {
  readonly #lookups = new Lookups("contracts");
  readonly #decoder: Decoder;
  readonly #filters: KnownFilters;
  #lackingSince = 0;

  constructor(
    private readonly endpoint: Endpoint,
    private readonly parties: PartySource,
    private readonly options: ContractsOptions,
  ) {
    const { templates, registrars } = options;
    this.#decoder = new Decoder(templates, { keepsOptional: true, registrars });
    this.#filters = new KnownFilters(templates);
  }

  async contracts(contractIds: readonly string[]): Promise<ReadonlyMap<string, OnLedger>> {
    const { maxWait, onFailure } = this.options;
    const ids = [...new Set(contractIds)];
    const found = new Map<string, OnLedger>(ids.map((id) => [id, "unread"]));
    const pending = ids.slice(0, MAX_READ_BY_ID).values();
    // Each reader ends at its first failure: a participant that is down is not asked for every contract.
    const read = async (signal: AbortSignal) => {
      for (const contractId of pending) {
        const contract = await this.#read(contractId, signal);
        if (contract === undefined) found.delete(contractId);
        else found.set(contractId, contract);
      }
    };
    const readAll = abortAfter(maxWait, this.endpoint.signal, async (signal) => {
      const readers = await Promise.allSettled(Array.from({ length: MAX_CONCURRENT }, () => read(signal)));
      for (const reader of readers) if (reader.status === "rejected") throw reader.reason;
    });
    try {
      // A token that is late delays a request beyond its signal.
      await withTimeout(readAll, maxWait, () => {
        throw new LedgerError("lost", `the participant has not answered within ${maxWait} ms`);
      });
    } catch (error) {
      onFailure(error instanceof LedgerError ? error : new LedgerError("unreadable", errorMessage(error)));
    }
    // A reader whose token is late goes on.
    return new Map(found);
  }

  /** Undefined for what the ledger does not know, and what does not count. Throws. */
  async #read(contractId: string, signal: AbortSignal): Promise<OnLedger | undefined> {
    const parties = await this.parties.current();
    const body = await this.#ask(contractId, parties, signal);
    const { created, archived } = body ?? {};
    if (archived !== undefined && archived !== null) return "archived";
    if (created === undefined || created === null) return undefined;
    const { createdEvent, ...at } = requireObject(created, "created");
    this.#decoder.hasOwnWitnesses = parties !== "any";
    // Reassignments are not told: where it is now may not be where it was created.
    const contract = this.#decoder.decodeCreatedEvent(createdEvent, requireString(at, "synchronizerId"), 0);
    return contract !== undefined && isStored(contract) ? contract : undefined;
  }

  /** Without what the participant lacks, of which it has no contracts. */
  async #ask(contractId: string, parties: ReadAs, signal: AbortSignal): Promise<JsonObject | undefined> {
    const { clock } = this.options;
    const filters = this.#filters;
    if (filters.missing.length > 0 && clock() - this.#lackingSince >= LACKING_MS) filters.include(filters.missing);
    for (;;) {
      const { present } = filters;
      const request = { contractId, eventFormat: eventFormat(parties, present, true) };
      try {
        return await this.#lookups.call({ ...this.endpoint, signal }, EVENTS_BY_CONTRACT_ID, request);
      } catch (error) {
        if (!(error instanceof LedgerError) || error.kind !== "incomplete") throw error;
        // Another reader may have left it out meanwhile. Each turn leaves out more, or is the last.
        const isNew = filters.leaveOut(error.details.missing ?? []);
        if (isNew) this.#lackingSince = clock();
        else if (filters.present.length >= present.length) return undefined;
      }
    }
  }
}
