import type { Created, Exercised, Update } from "../../domain/ledger.js";
import type { JsonObject } from "../../domain/json.js";
import type { Template } from "../../domain/template.js";
import { errorMessage } from "../../util/logger.js";
import { findTemplate } from "../decode.js";
import { requireObject, requireString } from "../json-fields.js";
import { LedgerError } from "./errors.js";
import { eventFormat } from "./event-format.js";
import { callParticipant, type Endpoint } from "./http.js";

/** How long to wait for an update that our participant may not have yet. */
export interface PollOptions {
  readonly maxWait: number;
  readonly now: () => number;
  readonly pause: (milliseconds: number) => Promise<void>;
}

/** Error codes for an unknown update or contract, and for a malformed id. Other missing things are failures. */
const NOT_FOUND_CODES = new Set(["UPDATE_NOT_FOUND", "CONTRACT_EVENTS_NOT_FOUND", "INVALID_FIELD", "INVALID_ARGUMENT"]);

const MAX_CONCURRENT_LOOKUPS = 64;

const POLL_MS = 200;
/** Between the last query and the end of the wait: more than a query takes. */
const LAST_QUERY_MS = 150;

/** Looks up past updates at a participant. Every method throws LedgerError. */
export class ParticipantHistory {
  readonly #endpoint: Endpoint;
  readonly #parties: readonly string[];
  readonly #polling: PollOptions;
  #inFlight = 0;

  constructor(endpoint: Endpoint, parties: readonly string[], polling: PollOptions) {
    this.#endpoint = endpoint;
    this.#parties = parties;
    this.#polling = polling;
  }

  /** One update with its events, exercised choices included. Undefined if there is none that our parties can see. */
  async update(
    which: { readonly updateId: string } | { readonly offset: number },
    templates: readonly Template[],
  ): Promise<Update | undefined> {
    const format = eventFormat(this.#parties, templates, false);
    const transactions = { eventFormat: format, transactionShape: "TRANSACTION_SHAPE_LEDGER_EFFECTS" };
    const request = { ...which, updateFormat: { includeTransactions: transactions } };
    const path = "updateId" in which ? "/v2/updates/update-by-id" : "/v2/updates/update-by-offset";
    const body = await this.#lookUp(path, request);
    return body === undefined ? undefined : decoded(() => ({ events: decodeEvents(body, templates) }));
  }

  /**
   * Repeats a query until it returns a value, for as long as an update may be in transit to our participant. Without a
   * value the whole wait passes, however many look-ups the queries made: its length tells a stranger nothing.
   */
  async pollUntil<T>(query: () => Promise<T | undefined>): Promise<T | undefined> {
    const { maxWait, now, pause } = this.#polling;
    const deadline = now() + maxWait;
    for (;;) {
      const result = await query();
      const remaining = deadline - now();
      if (result !== undefined || remaining <= 0 || this.#endpoint.signal.aborted) return result;
      if (remaining <= LAST_QUERY_MS) {
        await pause(remaining);
        return undefined;
      }
      await pause(Math.min(POLL_MS, remaining - LAST_QUERY_MS));
    }
  }

  /** The creation of a contract, active or archived. Undefined if it is unknown or pruned. */
  async creation(contractId: string, templates: readonly Template[]): Promise<Created | undefined> {
    const request = { contractId, eventFormat: eventFormat(this.#parties, templates, false) };
    const body = await this.#lookUp("/v2/events/events-by-contract-id", request);
    const created = body?.created;
    if (created === undefined || created === null) return undefined;
    return decoded(() => {
      const event = requireObject(requireObject(created, "created").createdEvent, "createdEvent");
      return decodeCreated(event, templates);
    });
  }

  async #lookUp(path: string, request: JsonObject): Promise<JsonObject | undefined> {
    if (this.#inFlight >= MAX_CONCURRENT_LOOKUPS) {
      throw new LedgerError("busy", `${MAX_CONCURRENT_LOOKUPS} lookups of past updates are in progress`);
    }
    this.#inFlight++;
    try {
      const body = await callParticipant(this.#endpoint, "POST", path, request);
      return decoded(() => requireObject(body, "the answer"));
    } catch (error) {
      if (error instanceof LedgerError && isNotFound(error)) return undefined;
      throw error;
    } finally {
      this.#inFlight--;
    }
  }
}

/** What is pruned cannot be told from what never was. */
const isNotFound = ({ kind, code }: LedgerError): boolean =>
  kind === "pruned" || (code !== undefined && NOT_FOUND_CODES.has(code));

function decoded<T>(decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    throw new LedgerError("unreadable", `a past update cannot be decoded: ${errorMessage(error)}`);
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
