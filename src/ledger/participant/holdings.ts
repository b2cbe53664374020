import type { HoldingFields, HoldingSource, InputHolding } from "../../domain/ledger.js";
import type { JsonValue } from "../../domain/json.js";
import type { Template } from "../../domain/template.js";
import { abortAfter, withTimeout } from "../../util/async.js";
import { errorMessage } from "../../util/logger.js";
import { findTemplate } from "../decode.js";
import { requireObject } from "../json-fields.js";
import { LedgerError } from "./errors.js";
import { eventFormat } from "./event-format.js";
import { callParticipant, type Endpoint } from "./http.js";

const MAX_IDS = 100;
const MAX_CONCURRENT = 8;
/** Of all requests together. */
const MAX_CONCURRENT_IN_ALL = 64;

/** The participant knows no contract of this id, or it is malformed. */
const NOT_FOUND_CODES = new Set(["CONTRACT_EVENTS_NOT_FOUND", "INVALID_FIELD", "INVALID_ARGUMENT"]);

export interface HoldingOptions {
  readonly template: Template<HoldingFields>;
  /** For all holdings of one request, in milliseconds. */
  readonly maxWait: number;
  /** Called once for a request of which holdings could not be read. */
  readonly onFailure: (error: LedgerError) => void;
}

/** Looks holdings up at a participant, by contract id. */
export class ParticipantHoldings implements HoldingSource {
  readonly #endpoint: Endpoint;
  readonly #parties: readonly string[];
  readonly #options: HoldingOptions;
  #inFlight = 0;

  constructor(endpoint: Endpoint, parties: readonly string[], options: HoldingOptions) {
    this.#endpoint = endpoint;
    this.#parties = parties;
    this.#options = options;
  }

  async holdings(contractIds: readonly string[]): Promise<ReadonlyMap<string, InputHolding | "archived">> {
    const found = new Map<string, InputHolding | "archived">();
    const { maxWait, onFailure } = this.#options;
    const pending = [...new Set(contractIds)].slice(0, MAX_IDS).values();
    // Each reader ends at its first failure: a participant that is down is not asked 100 times.
    const read = async (signal: AbortSignal) => {
      for (const contractId of pending) {
        const holding = await this.#read(contractId, signal);
        if (holding !== undefined) found.set(contractId, holding);
      }
    };
    const readAll = abortAfter(maxWait, this.#endpoint.signal, async (signal) => {
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
    return found;
  }

  async #read(contractId: string, signal: AbortSignal): Promise<InputHolding | "archived" | undefined> {
    if (this.#inFlight >= MAX_CONCURRENT_IN_ALL) {
      throw new LedgerError("busy", `${MAX_CONCURRENT_IN_ALL} look-ups of holdings are in progress`);
    }
    const { template } = this.#options;
    const request = { contractId, eventFormat: eventFormat(this.#parties, [template], false) };
    this.#inFlight++;
    try {
      const endpoint = { ...this.#endpoint, signal };
      return this.#decode(
        contractId,
        await callParticipant(endpoint, "POST", "/v2/events/events-by-contract-id", request),
      );
    } catch (error) {
      if (error instanceof LedgerError && NOT_FOUND_CODES.has(error.code ?? "")) return undefined;
      throw error;
    } finally {
      this.#inFlight--;
    }
  }

  #decode(contractId: string, body: JsonValue): InputHolding | "archived" | undefined {
    const { created, archived } = requireObject(body, "the answer");
    if (archived !== undefined && archived !== null) return "archived";
    if (created === undefined || created === null) return undefined;
    const event = requireObject(requireObject(created, "created").createdEvent, "createdEvent");
    const { template } = this.#options;
    if (findTemplate(event, [template]) === undefined) return undefined;
    const parsed = template.parse(requireObject(event.createArgument, "createArgument"));
    return parsed && { contractId, ...parsed.fields };
  }
}
