import type { ReadAs } from "../../domain/ledger.js";
import type { JsonObject, JsonValue } from "../../util/json.js";
import type { Template } from "../../domain/template.js";
import { fieldsOf } from "../json-fields.js";
import { LedgerError } from "./errors.js";
import { callParticipant, type Endpoint } from "./http.js";
import { MessageStream, streamMessages } from "./message-stream.js";
import type { PartySource } from "./parties.js";

/** An open stream of updates, which its owner must close. A bounded queue holds messages until they are read. */
export interface UpdateStream extends AsyncIterable<JsonValue> {
  readonly hasEnded: boolean;
  /** Whether a ping is answered: then the stream's history still holds. False while full: no pong can be read. */
  isResponsive(): Promise<boolean>;
  close(): void;
}

/** Throws "ahead" or "pruned" if the participant does not have the update that we applied at an offset. */
export async function checkHistory(ledger: Ledger, offset: number, updateId: string): Promise<void> {
  const end = await ledger.ledgerEnd();
  if (end < offset) throw new LedgerError("ahead", `the ledger ends at offset ${end}, but we have applied ${offset}`);
  if (await ledger.hasUpdate(updateId)) return;
  const isPruned = (await ledger.prunedUpTo()) >= offset;
  throw new LedgerError(
    isPruned ? "pruned" : "ahead",
    `the participant does not have the update at offset ${offset}, which we have applied`,
  );
}

/**
 * Throws if a stream has ended. Drops its messages: they may be of an ended history. A full stream passes, or a busy
 * ledger could never be followed. This is safe: if it was cut, its updates differ from those returned later.
 */
export async function checkOpen(stream: UpdateStream): Promise<void> {
  if ((await stream.isResponsive()) || !stream.hasEnded) return;
  for await (const _ of stream) continue;
  throw streamEnded();
}

/** For a stream without `upTo`, which should not end. */
export const streamEnded = (): LedgerError => new LedgerError("lost", "the participant ended the stream of updates");

const ACTIVE_CONTRACTS = "/v2/state/active-contracts";
/** The HTTP form of active contracts has a limit, 200 elements by default. */
const TOO_MANY_CONTRACTS = "JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED";

/** The calls of the ledger that the mirror needs. */
export type Ledger = Pick<ParticipantClient, keyof ParticipantClient>;

/** The calls of a participant's JSON Ledger API v2 that the mirror uses. Every method throws LedgerError. */
export class ParticipantClient {
  readonly #filters: KnownFilters;
  #parties: ReadAs | undefined;

  /** Reads contracts of the templates that one of the parties can see. */
  constructor(
    private readonly endpoint: Endpoint,
    private readonly source: PartySource,
    templates: readonly Template[],
  ) {
    this.#filters = new KnownFilters(templates);
    this.#parties = source.fixed;
  }

  /** The parties whose contracts are read; undefined before they are known. */
  get parties(): ReadAs | undefined {
    return this.#parties;
  }

  /** Asks as which parties it may be read. */
  findParties(): Promise<ReadAs> {
    return this.source.read();
  }

  /** Reads as these from now on. */
  readAs(parties: ReadAs): void {
    this.#parties = parties;
  }

  ledgerEnd(): Promise<number> {
    return this.#getOffset("/v2/state/ledger-end", "offset");
  }

  prunedUpTo(): Promise<number> {
    return this.#getOffset("/v2/state/latest-pruned-offsets", "participantPrunedUpToInclusive");
  }

  activeContracts(offset: number): AsyncIterable<JsonValue> {
    const request = { activeAtOffset: offset, eventFormat: this.#eventFormat() };
    return streamMessages(this.endpoint, ACTIVE_CONTRACTS, request, true);
  }

  /** Updates after an offset. Resolves when the stream is open. Without `upTo` the stream does not end. */
  updates(after: number, upTo?: number): Promise<UpdateStream> {
    const until = upTo === undefined ? {} : { endInclusive: upTo };
    const request = { beginExclusive: after, ...until, updateFormat: this.#updateFormat() };
    return MessageStream.open(this.endpoint, "/v2/updates", request, upTo !== undefined);
  }

  /** Whether the participant has the update. One that was restored from a backup may not. */
  async hasUpdate(updateId: string): Promise<boolean> {
    const request = { updateId, updateFormat: this.#updateFormat() };
    return (await this.#lookUp("/v2/updates/update-by-id", request, "UPDATE_NOT_FOUND")) !== undefined;
  }

  /** Packages and templates that the participant does not have: their contracts are not read. */
  get missing(): readonly string[] {
    return this.#filters.missing;
  }

  /** Leaves out what an error says is missing. False if nothing new is, or if nothing is left to read. */
  leaveOut({ details }: LedgerError): boolean {
    return this.#filters.leaveOut(details.missing ?? []);
  }

  /** Reads what was found from now on. */
  include(names: readonly string[]): void {
    this.#filters.include(names);
  }

  /** Looks for what is missing. Asks for the contracts of each name: only the error matters, and too many contracts are no error here. */
  async findMissing(): Promise<readonly string[]> {
    const found: string[] = [];
    const activeAtOffset = await this.ledgerEnd();
    for (const name of this.missing) {
      const format = this.#eventFormat(this.#filters.of(name), false);
      try {
        await callParticipant(this.endpoint, "POST", ACTIVE_CONTRACTS, { activeAtOffset, eventFormat: format });
      } catch (error) {
        if (!(error instanceof LedgerError) || error.code !== TOO_MANY_CONTRACTS) continue;
      }
      found.push(name);
    }
    return found;
  }

  /** The ids of all packages that the participant has. */
  async packageIds(): Promise<readonly string[]> {
    const { packageIds } = fieldsOf(await callParticipant(this.endpoint, "GET", "/v2/packages"));
    return Array.isArray(packageIds) ? packageIds.filter((id) => typeof id === "string") : [];
  }

  /**
   * The created event of a contract, active or archived, as a stream that is opened now shows it. Undefined if it is pruned.
   */
  async creation(contractId: string): Promise<JsonValue | undefined> {
    const request = { contractId, eventFormat: this.#eventFormat() };
    const events = await this.#lookUp("/v2/events/events-by-contract-id", request, "CONTRACT_EVENTS_NOT_FOUND");
    return fieldsOf(fieldsOf(events).created).createdEvent;
  }

  /** Undefined where the answer is an error with the code. */
  async #lookUp(path: string, request: JsonValue, notFound: string): Promise<JsonValue | undefined> {
    try {
      return await callParticipant(this.endpoint, "POST", path, request);
    } catch (error) {
      if (error instanceof LedgerError && error.code === notFound) return undefined;
      throw error;
    }
  }

  async #getOffset(path: string, field: string): Promise<number> {
    const body = await callParticipant(this.endpoint, "GET", path);
    const offset = fieldsOf(body)[field];
    if (typeof offset === "number") return offset;
    throw new LedgerError("unreadable", `the participant's answer to ${path} has no number ${field}`);
  }

  #updateFormat(): JsonObject {
    return {
      includeTransactions: { eventFormat: this.#eventFormat(), transactionShape: "TRANSACTION_SHAPE_ACS_DELTA" },
      includeReassignments: this.#eventFormat(),
    };
  }

  #eventFormat(filters = this.#filters.present, includeCreatedEventBlob = true): JsonObject {
    if (this.#parties === undefined) throw new LedgerError("no-parties", "the parties are not known yet");
    return eventFormat(this.#parties, filters, includeCreatedEventBlob);
  }
}

/** A template or an interface, whose contracts a participant is asked for. */
export interface Filter {
  readonly packageName: string;
  /** `Module:Entity`. */
  readonly qualifiedName: string;
  readonly isInterface: boolean;
}

/** Those of templates, each once. */
function filtersOf(templates: readonly Template[]): readonly Filter[] {
  const filters = new Map<string, Filter>();
  for (const { packageName, qualifiedName, interfaces = [] } of templates) {
    if (packageName !== "")
      filters.set(nameOf({ packageName, qualifiedName }), { packageName, qualifiedName, isInterface: false });
    for (const one of interfaces)
      filters.set(nameOf(one), { packageName: one.packageName, qualifiedName: one.qualifiedName, isInterface: true });
  }
  return [...filters.values()];
}

const nameOf = ({ packageName, qualifiedName }: Pick<Filter, "packageName" | "qualifiedName">): string =>
  `${packageName}:${qualifiedName}`;

/**
 * What a participant is asked for. It rejects a whole request that names a package, template or interface which it does not
 * have, so what it lacks is left out.
 */
export class KnownFilters {
  readonly #filters: readonly Filter[];
  #missing: readonly string[] = [];

  constructor(templates: readonly Template[]) {
    this.#filters = filtersOf(templates);
  }

  /** Those to ask for. */
  get present(): readonly Filter[] {
    return this.#filters.filter((filter) => !this.#missing.some((name) => isNamed(filter, name)));
  }

  /** What is left out, as `package` or `package:Module:Entity`. */
  get missing(): readonly string[] {
    return this.#missing;
  }

  /** Leaves out what has one of the names. False if that changes nothing, or if nothing is left: then all are asked for. */
  leaveOut(names: readonly string[]): boolean {
    const before = this.present.length;
    this.#missing = [...new Set([...this.#missing, ...names.filter((name) => this.of(name).length > 0)])];
    const { length } = this.present;
    if (length === 0) this.#missing = [];
    return length > 0 && length < before;
  }

  include(names: readonly string[]): void {
    this.#missing = this.#missing.filter((name) => !names.includes(name));
  }

  /** Those with a name. */
  of(name: string): readonly Filter[] {
    return this.#filters.filter((filter) => isNamed(filter, name));
  }
}

const isNamed = (filter: Filter, name: string): boolean => name === filter.packageName || name === nameOf(filter);

/** The format for events on contracts of the templates that one of the parties can see. */
export const eventFormatOf = (parties: ReadAs, templates: readonly Template[]): JsonObject =>
  eventFormat(parties, filtersOf(templates), false);

/** The format for events on contracts that match one of the filters and that one of the parties can see. */
export function eventFormat(parties: ReadAs, filters: readonly Filter[], includeCreatedEventBlob: boolean): JsonObject {
  const cumulative = filters.map(({ isInterface, ...filter }) => {
    const id = `#${nameOf(filter)}`;
    return {
      identifierFilter: isInterface
        ? { InterfaceFilter: { value: { interfaceId: id, includeInterfaceView: true, includeCreatedEventBlob } } }
        : { TemplateFilter: { value: { templateId: id, includeCreatedEventBlob } } },
    };
  });
  return parties === "any"
    ? { filtersForAnyParty: { cumulative }, verbose: false }
    : { filtersByParty: Object.fromEntries(parties.map((party) => [party, { cumulative }])), verbose: false };
}
