import type { JsonObject, JsonValue } from "../../domain/json.js";
import type { Template } from "../../domain/template.js";
import { LedgerError } from "./errors.js";
import { eventFormat } from "./event-format.js";
import { callParticipant, type Endpoint } from "./http.js";
import { KnownTemplates } from "./known-templates.js";
import type { Ledger, UpdateStream } from "./ledger.js";
import { MessageStream, streamMessages } from "./message-stream.js";

const ACTIVE_CONTRACTS = "/v2/state/active-contracts";
/** The HTTP form of active contracts has a limit, 200 elements by default. */
const TOO_MANY_CONTRACTS = "JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED";

/** The calls of a participant's JSON Ledger API v2 that the mirror uses. Every method throws LedgerError. */
export class ParticipantClient implements Ledger {
  readonly #endpoint: Endpoint;
  readonly #parties: readonly string[];
  readonly #templates: KnownTemplates;

  /** Reads contracts of the templates that one of the parties can see. */
  constructor(endpoint: Endpoint, parties: readonly string[], templates: readonly Template[]) {
    this.#endpoint = endpoint;
    this.#parties = parties;
    this.#templates = new KnownTemplates(templates);
  }

  ledgerEnd(): Promise<number> {
    return this.#getOffset("/v2/state/ledger-end", "offset");
  }

  prunedUpTo(): Promise<number> {
    return this.#getOffset("/v2/state/latest-pruned-offsets", "participantPrunedUpToInclusive");
  }

  activeContracts(offset: number): AsyncGenerator<JsonValue> {
    const request = { activeAtOffset: offset, eventFormat: this.#eventFormat() };
    return streamMessages(this.#endpoint, ACTIVE_CONTRACTS, request, true);
  }

  updates(after: number, upTo?: number): Promise<UpdateStream> {
    const until = upTo === undefined ? {} : { endInclusive: upTo };
    const request = { beginExclusive: after, ...until, updateFormat: this.#updateFormat() };
    return MessageStream.open(this.#endpoint, "/v2/updates", request, upTo !== undefined);
  }

  /** Whether the participant has the update. One that was restored from a backup may not. */
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

  get missing(): readonly string[] {
    return this.#templates.missing;
  }

  leaveOut({ missing }: LedgerError): boolean {
    return this.#templates.leaveOut(missing);
  }

  include(names: readonly string[]): void {
    this.#templates.include(names);
  }

  /** Asks for the contracts of each name: only the error matters, and too many contracts are no error here. */
  async findMissing(): Promise<readonly string[]> {
    const found: string[] = [];
    const activeAtOffset = await this.ledgerEnd();
    for (const name of this.missing) {
      const format = eventFormat(this.#parties, this.#templates.of(name), false);
      try {
        await callParticipant(this.#endpoint, "POST", ACTIVE_CONTRACTS, { activeAtOffset, eventFormat: format });
      } catch (error) {
        if (!(error instanceof LedgerError) || error.code !== TOO_MANY_CONTRACTS) continue;
      }
      found.push(name);
    }
    return found;
  }

  async #getOffset(path: string, field: string): Promise<number> {
    const body = await callParticipant(this.#endpoint, "GET", path);
    const offset = typeof body === "object" && body !== null && !Array.isArray(body) ? body[field] : undefined;
    if (typeof offset === "number") return offset;
    throw new LedgerError("unreadable", `the participant's answer to ${path} has no number ${field}`);
  }

  #updateFormat(): JsonObject {
    return {
      includeTransactions: { eventFormat: this.#eventFormat(), transactionShape: "TRANSACTION_SHAPE_ACS_DELTA" },
      includeReassignments: this.#eventFormat(),
    };
  }

  #eventFormat(): JsonObject {
    return eventFormat(this.#parties, this.#templates.present, true);
  }
}
