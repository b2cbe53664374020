import type { JsonObject, JsonValue } from "../../domain/json.js";
import type { Template } from "../../domain/template.js";
import { templateOf, object, text } from "../decode.js";
import { LedgerError } from "./errors.js";
import { eventFormat } from "./event-format.js";
import { callParticipant, type Endpoint } from "./http.js";

/** An event of an update, on a contract of a kind that was asked for. */
export type LedgerEvent = CreationEvent | ExerciseEvent;

export interface CreationEvent {
  readonly does: "create";
  readonly template: Template;
  readonly contractId: string;
  readonly payload: JsonObject;
  readonly offset: number;
}

export interface ExerciseEvent {
  readonly does: "exercise";
  readonly template: Template;
  readonly contractId: string;
  readonly choice: string;
  readonly argument: JsonValue;
  readonly result: JsonValue;
  readonly consuming: boolean;
}

/** How long an update may be on its way to our participant, and how to wait for it. */
export interface PollOptions {
  /** In milliseconds. */
  readonly maxWait: number;
  readonly now: () => number;
  readonly pause: (milliseconds: number) => Promise<void>;
}

/**
 * What a participant calls an update or a contract that it does not have, and an
 * id that is not of the form of one. Other things may be missing as well, and are
 * trouble.
 */
const NONE = new Set(["UPDATE_NOT_FOUND", "CONTRACT_EVENTS_NOT_FOUND", "INVALID_FIELD", "INVALID_ARGUMENT"]);

/** How many questions are put to the participant at the same time. */
const MOST_AT_ONCE = 64;

/** How long to wait before an update is looked for again, in milliseconds. */
const AGAIN_MS = 200;

/** Looks up what a participant has recorded, update by update. Everything throws LedgerError. */
export class ParticipantHistory {
  readonly #endpoint: Endpoint;
  readonly #parties: readonly string[];
  readonly #waiting: PollOptions;
  #asking = 0;

  constructor(endpoint: Endpoint, parties: readonly string[], waiting: PollOptions) {
    this.#endpoint = endpoint;
    this.#parties = parties;
    this.#waiting = waiting;
  }

  /** One update with its events, choices included. Undefined where there is none, or none of the kinds that our parties see. */
  async update(
    which: { readonly updateId: string } | { readonly offset: number },
    templates: readonly Template[],
  ): Promise<{ readonly events: readonly LedgerEvent[] } | undefined> {
    const format = eventFormat(this.#parties, templates, false);
    const transactions = { eventFormat: format, transactionShape: "TRANSACTION_SHAPE_LEDGER_EFFECTS" };
    const request = { ...which, updateFormat: { includeTransactions: transactions } };
    const path = "updateId" in which ? "/v2/updates/update-by-id" : "/v2/updates/update-by-offset";
    const answer = await this.#find(path, request);
    return answer === undefined ? undefined : this.#read(() => ({ events: eventsOf(answer, templates) }));
  }

  /**
   * Puts a question again and again until it has an answer, for as long as an
   * update may be on its way to us from another participant.
   */
  async pollUntil<T>(question: () => Promise<T | undefined>): Promise<T | undefined> {
    const { maxWait, now, pause } = this.#waiting;
    const until = now() + maxWait;
    for (;;) {
      const answer = await question();
      const left = until - now();
      if (answer !== undefined || left <= 0 || this.#endpoint.signal.aborted) return answer;
      await pause(Math.min(AGAIN_MS, left));
    }
  }

  /** How a contract came to be, be it archived. Undefined also where that has been pruned. */
  async creation(contractId: string, templates: readonly Template[]): Promise<CreationEvent | undefined> {
    const request = { contractId, eventFormat: eventFormat(this.#parties, templates, false) };
    const answer = await this.#find("/v2/events/events-by-contract-id", request);
    const created = answer?.created;
    if (created === undefined || created === null) return undefined;
    return this.#read(() => creationOf(object(object(created, "created").createdEvent, "createdEvent"), templates));
  }

  /** Undefined where the participant says that there is none. */
  async #find(path: string, request: JsonObject): Promise<JsonObject | undefined> {
    if (this.#asking >= MOST_AT_ONCE)
      throw new LedgerError("busy", `${MOST_AT_ONCE} questions to the past are under way`);
    this.#asking++;
    try {
      const answer = await callParticipant(this.#endpoint, "POST", path, request);
      return this.#read(() => object(answer, "the answer"));
    } catch (error) {
      if (error instanceof LedgerError && error.code !== undefined && NONE.has(error.code)) return undefined;
      throw error;
    } finally {
      this.#asking--;
    }
  }

  #read<T>(reading: () => T): T {
    try {
      return reading();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new LedgerError("unreadable", `an update of the past cannot be read: ${reason}`);
    }
  }
}

/** Of an update that is no transaction there are none. */
function eventsOf(answer: JsonObject, templates: readonly Template[]): LedgerEvent[] {
  const { Transaction } = object(answer.update, "update");
  if (Transaction === undefined) return [];
  const { events } = object(object(Transaction, "Transaction").value, "value");
  if (!Array.isArray(events)) throw new Error("events has to be a list");
  return events.flatMap((event) => {
    const { CreatedEvent, ExercisedEvent } = object(event, "event");
    if (CreatedEvent !== undefined) return creationOf(object(CreatedEvent, "CreatedEvent"), templates) ?? [];
    if (ExercisedEvent !== undefined) return exerciseOf(object(ExercisedEvent, "ExercisedEvent"), templates) ?? [];
    throw new Error("an event has to be a CreatedEvent or an ExercisedEvent");
  });
}

function creationOf(event: JsonObject, templates: readonly Template[]): CreationEvent | undefined {
  const template = templateOf(event, templates);
  if (template === undefined) return undefined;
  const { offset } = event;
  if (typeof offset !== "number") throw new Error("offset has to be a number");
  const payload = object(event.createArgument, "createArgument");
  return { does: "create", template, contractId: text(event, "contractId"), payload, offset };
}

function exerciseOf(event: JsonObject, templates: readonly Template[]): ExerciseEvent | undefined {
  const template = templateOf(event, templates);
  if (template === undefined) return undefined;
  const { consuming } = event;
  if (typeof consuming !== "boolean") throw new Error("consuming has to be true or false");
  return {
    does: "exercise",
    template,
    contractId: text(event, "contractId"),
    choice: text(event, "choice"),
    argument: event.choiceArgument ?? null,
    result: event.exerciseResult ?? null,
    consuming,
  };
}
