import type { JsonObject, JsonValue } from "../../domain/json.js";
import type { Template } from "../../domain/template.js";
import { LedgerError } from "./errors.js";
import { eventFormat } from "./event-format.js";
import { callParticipant, type Endpoint } from "./http.js";
import type { Ledger, UpdateStream } from "./ledger.js";
import { Stream, stream } from "./stream.js";

/** A participant's JSON Ledger API v2, as far as the mirror uses it. Everything throws LedgerError. */
export class ParticipantClient implements Ledger {
  readonly #endpoint: Endpoint;
  readonly #eventFormat: JsonObject;

  /** Asks for contracts of the kinds, of which one of the parties is a stakeholder. */
  constructor(endpoint: Endpoint, parties: readonly string[], templates: readonly Template[]) {
    this.#endpoint = endpoint;
    this.#eventFormat = eventFormat(parties, templates, true);
  }

  ledgerEnd(): Promise<number> {
    return this.#offset("/v2/state/ledger-end", "offset");
  }

  prunedUpTo(): Promise<number> {
    return this.#offset("/v2/state/latest-pruned-offsets", "participantPrunedUpToInclusive");
  }

  /** The elements of the active contracts at an offset. */
  activeContracts(offset: number): AsyncGenerator<JsonValue> {
    const request = { activeAtOffset: offset, eventFormat: this.#eventFormat };
    return stream(this.#endpoint, "/v2/state/active-contracts", request, true);
  }

  /** The updates behind an offset, up to another or without end. */
  updates(after: number, upTo?: number): Promise<UpdateStream> {
    const until = upTo === undefined ? {} : { endInclusive: upTo };
    const request = { beginExclusive: after, ...until, updateFormat: this.#updateFormat() };
    return Stream.open(this.#endpoint, "/v2/updates", request, upTo !== undefined);
  }

  /** Whether the participant still has the update: one that was restored from a backup may not. */
  async hasUpdate(updateId: string): Promise<boolean> {
    const request = { updateId, updateFormat: this.#updateFormat() };
    try {
      await callParticipant(this.#endpoint, "POST", "/v2/updates/update-by-id", request);
      return true;
    } catch (error) {
      if (error instanceof LedgerError && error.code === "UPDATE_NOT_FOUND") return false;
      throw error;
    }
  }

  /** The offset that a call answers with, under a name. */
  async #offset(path: string, name: string): Promise<number> {
    const answer = await callParticipant(this.#endpoint, "GET", path);
    const offset = typeof answer === "object" && answer !== null && !Array.isArray(answer) ? answer[name] : undefined;
    if (typeof offset === "number") return offset;
    throw new LedgerError("unreadable", `the participant's answer to ${path} has no number ${name}`);
  }

  #updateFormat(): JsonObject {
    return {
      includeTransactions: { eventFormat: this.#eventFormat, transactionShape: "TRANSACTION_SHAPE_ACS_DELTA" },
      includeReassignments: this.#eventFormat,
    };
  }
}
