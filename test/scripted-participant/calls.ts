/** The calls of the API, independent of HTTP and WebSocket. */
import type { JsonValue } from "../../src/util/json.js";
import { refusal } from "./errors.js";
import { archivedEvent, createdEvent, type Filter, filterOf, type Packages } from "./events.js";
import type { ScriptedLedger } from "./ledger.js";
import type { UpdateLog } from "./log.js";
import type {
  ActiveContractsElement,
  ActiveContractsRequest,
  EventFormat,
  EventsRequest,
  EventsResponse,
  PrepareResponse,
  PrunedOffsets,
  UpdateByIdRequest,
  UpdateByOffsetRequest,
  UpdateFormat,
  UpdateResponse,
  UpdatesRequest,
} from "./messages.js";
import { type Preparation, prepare } from "./prepare.js";
import { list, long, maybe, object, read, text } from "./requests.js";
import { type Tokens, USER } from "./tokens.js";
import { snapshot, type View, viewOf } from "./updates.js";

export interface Serving extends Packages {
  readonly ledger: ScriptedLedger;
  readonly checkpointMs: number | undefined;
  readonly tokens: Tokens | undefined;
  /** The known parties; undefined if every party is known. */
  readonly parties?: ReadonlySet<string> | undefined;
  readonly vetted?: readonly Vetted[];
}

/** Every method throws a Refusal where a participant would answer with an error. */
export class Calls {
  readonly serving: Serving;
  readonly ledger: ScriptedLedger;
  readonly #token: string | undefined;

  constructor(serving: Serving, token: string | undefined) {
    this.serving = serving;
    this.ledger = serving.ledger;
    this.#token = token;
  }

  prunedOffsets(): PrunedOffsets {
    return { participantPrunedUpToInclusive: this.ledger.pruned, allDivulgedContractsPrunedUpToInclusive: 0 };
  }

  activeContracts({ activeAtOffset, eventFormat }: ActiveContractsRequest): Iterable<ActiveContractsElement> {
    const { end, pruned, log } = this.ledger;
    if (eventFormat === undefined)
      throw refusal("INVALID_ARGUMENT", "Either filter/verbose or event_format is required.");
    if (activeAtOffset > end) {
      const cause = `active_at_offset offset (${activeAtOffset}) is after ledger end (${end})`;
      throw refusal("OFFSET_AFTER_LEDGER_END", cause);
    }
    if (activeAtOffset < pruned) {
      throw prunedAccess(
        `Active contracts request at offset ${activeAtOffset} precedes pruned offset ${pruned}`,
        pruned,
      );
    }
    this.#checkRights(eventFormat);
    return snapshot(log.between(0, activeAtOffset), filterOf(eventFormat, this.serving));
  }

  /** Checks a request for updates, and returns how to show them. */
  updates({ beginExclusive, endInclusive, updateFormat }: UpdatesRequest): View {
    const { end } = this.ledger;
    if (updateFormat === undefined)
      throw refusal("INVALID_ARGUMENT", "Either filter/verbose or update_format is required.");
    for (const [name, offset] of [
      ["Begin", beginExclusive],
      ["End", endInclusive ?? 0],
    ] as const) {
      if (offset > end)
        throw refusal("OFFSET_AFTER_LEDGER_END", `${name} offset (${offset}) is after ledger end (${end})`);
    }
    if (endInclusive !== undefined && endInclusive < beginExclusive) {
      throw refusal("OFFSET_OUT_OF_RANGE", `End offset ${endInclusive} is before begin offset ${beginExclusive}`);
    }
    this.checkUnpruned(beginExclusive, endInclusive);
    this.#checkRights(updateFormat.includeTransactions?.eventFormat, updateFormat.includeReassignments);
    return viewOf(updateFormat, this.serving);
  }

  /** Throws if updates after an offset are pruned. */
  checkUnpruned(beginExclusive: number, endInclusive: number | undefined): void {
    const { pruned } = this.ledger;
    if (beginExclusive >= pruned) return;
    const range = `from ${beginExclusive + 1} to ${endInclusive ?? "the ledger end"}`;
    throw prunedAccess(`Updates request ${range} precedes pruned offset ${pruned}`, pruned);
  }

  eventsByContractId({ contractId, eventFormat }: EventsRequest): EventsResponse {
    this.#checkRights(eventFormat);
    return eventsOf(this.ledger.log, contractId, filterOf(eventFormat, this.serving));
  }

  prepareSubmission(request: Preparation): PrepareResponse {
    this.#checkParties(request.parties);
    if (request.userId === undefined && this.serving.tokens === undefined) {
      throw refusal("INVALID_TOKEN", "The submitted request is missing a user-id");
    }
    return prepare(request, this.ledger, this.serving.packageNames, this.serving.parties);
  }

  updateById({ updateId, updateFormat }: UpdateByIdRequest): UpdateResponse {
    return this.#update(updateId, updateFormat);
  }

  updateByOffset({ offset, updateFormat }: UpdateByOffsetRequest): UpdateResponse {
    return this.#update(offset, updateFormat);
  }

  packages(): { packageIds: string[] } {
    return { packageIds: [...(this.serving.packageNames ?? [])] };
  }

  vettedPackages(body: JsonValue): object {
    return vettedPackages(this.serving.vetted ?? [], body);
  }

  /** Without authentication there is none. */
  authenticatedUser(): object {
    if (this.#token === undefined || this.serving.tokens === undefined) {
      const cause =
        "The submitted request is missing a user-id: requests with an empty user-id are only supported if there is an authenticated user";
      throw refusal("INVALID_TOKEN", cause);
    }
    const metadata = { resourceVersion: "0", annotations: {} };
    const unset = { primaryParty: "", identityProviderId: "", primaryPartyAuthentication: false };
    return { user: { id: USER, isDeactivated: false, metadata, ...unset } };
  }

  /** A user may see its own, an administrator those of all. */
  userRights(user: string): object {
    const own = this.#token === undefined ? undefined : this.serving.tokens?.rights(this.#token);
    if (own !== undefined && user !== USER && own.every(([kind]) => kind !== "ParticipantAdmin"))
      throw refusal("PERMISSION_DENIED", "not the user's own");
    if (user !== USER)
      throw refusal("USER_NOT_FOUND", `list user rights failed for unknown user "${user}"`, {
        resources: [["ErrorResource(USER)", user]],
      });
    const rights = (own ?? []).map(([kind, party]) => ({
      kind: { [kind]: { value: party === undefined ? {} : { party } } },
    }));
    return { rights };
  }

  #update(which: string | number, format: UpdateFormat): UpdateResponse {
    this.#checkRights(format.includeTransactions?.eventFormat, format.includeReassignments);
    return updateOf(this.ledger.log, which, viewOf(format, this.serving));
  }

  #checkRights(...formats: readonly (EventFormat | undefined)[]): void {
    this.#checkParties(formats.flatMap((format) => Object.keys(format?.filtersByParty ?? {})));
    if (formats.some((format) => format?.filtersForAnyParty !== undefined)) this.#checkParties(["any"]);
  }

  #checkParties(parties: readonly string[]): void {
    const mayRead = (party: string) =>
      this.#token === undefined || this.serving.tokens?.mayRead(this.#token, party) !== false;
    if (!parties.every(mayRead)) throw refusal("PERMISSION_DENIED", "The token is not good for all these parties");
  }
}

function prunedAccess(cause: string, pruned: number) {
  return refusal("PARTICIPANT_PRUNED_DATA_ACCESSED", cause, { context: { earliest_offset: String(pruned) } });
}

/** The creation of a contract and its archival, if any. Archived contracts are found until they are pruned. */
function eventsOf(log: UpdateLog, contractId: string, filter: Filter): EventsResponse {
  const response: EventsResponse = {};
  for (const { offset, synchronizerId, changes } of log.between(0)) {
    for (const { contract, nodeId, type } of changes) {
      const sight = contract.contractId === contractId ? filter(contract) : undefined;
      if (sight === undefined) continue;
      const position = { offset, nodeId };
      // For a contract from an unconnected synchronizer the assignment counts as its creation.
      const isFirst = type === "create" || (type === "assign" && response.created === undefined);
      if (isFirst) response.created = { createdEvent: createdEvent(contract, position, sight), synchronizerId };
      if (type === "archive") {
        response.archived = { archivedEvent: archivedEvent(contract, position, sight), synchronizerId };
      }
    }
  }
  const isPruned = (response.archived?.archivedEvent.offset ?? Number.POSITIVE_INFINITY) <= log.pruned;
  if (response.created === undefined || isPruned) {
    throw refusal(
      "CONTRACT_EVENTS_NOT_FOUND",
      `Contract events not found, or not visible, for contract id ${contractId}.`,
      { resources: [["ErrorResource(CONTRACT_ID)", contractId]] },
    );
  }
  return response;
}

/** An update by its id or its offset. Checkpoints and pruned updates are not found. */
function updateOf(log: UpdateLog, which: string | number, view: View): UpdateResponse {
  const entry = log
    .between(log.pruned)
    .find((one) => (one.updateId === which || one.offset === which) && one.form !== "checkpoint");
  const update = entry && view(entry);
  if (update === undefined) {
    const resource = typeof which === "string" ? "ErrorResource(UPDATE_ID)" : "ErrorResource(OFFSET)";
    throw refusal("UPDATE_NOT_FOUND", "Update not found, or not visible.", { resources: [[resource, String(which)]] });
  }
  return { update };
}

/** One participant on one synchronizer. A page has all its packages that pass the filter. */
export interface Vetted {
  readonly participantId: string;
  readonly synchronizerId: string;
  readonly packages: readonly VettedPackage[];
}

/** Name and version are absent if this participant does not have the package. */
interface VettedPackage {
  readonly packageId: string;
  readonly packageName?: string;
  readonly packageVersion?: string;
}

const MAX_PAGE_SIZE = 100;

const vettingSchema = object({
  packageMetadataFilter: maybe(object({ packageIds: maybe(list(text)), packageNamePrefixes: maybe(list(text)) })),
  pageToken: maybe(text),
  pageSize: maybe(long),
});

function vettedPackages(vetted: readonly Vetted[], body: JsonValue): object {
  const { packageMetadataFilter, pageToken = "", pageSize: size = 0 } = read(vettingSchema, body);
  const { packageIds: ids = [], packageNamePrefixes: prefixes = [] } = packageMetadataFilter ?? {};
  if (size > MAX_PAGE_SIZE) throw unreadable();
  const passes = ({ packageId, packageName = "" }: VettedPackage) =>
    (ids.length === 0 && prefixes.length === 0) ||
    ids.includes(packageId) ||
    prefixes.some((prefix) => packageName.startsWith(prefix));
  const entries = vetted
    .map((one) => ({ ...one, packages: one.packages.filter(passes) }))
    .filter(({ packages }) => packages.length > 0);
  const from = positionOf(pageToken);
  const page = entries.slice(from, from + (size === 0 ? MAX_PAGE_SIZE : size));
  return {
    vettedPackages: page.map(({ packages, ...entry }) => ({
      packages: packages.map(({ packageId, packageName = null, packageVersion = null }) => ({
        packageId,
        validFromInclusive: null,
        validUntilExclusive: null,
        packageName,
        packageVersion,
      })),
      ...entry,
      topologySerial: 7,
    })),
    // The last page has a token too. The one after it is empty.
    nextPageToken: page.length === 0 ? "" : Buffer.from(`from ${from + page.length}`).toString("base64"),
  };
}

function positionOf(token: string): number {
  if (token === "") return 0;
  const [, position] = /^from (\d+)$/.exec(Buffer.from(token, "base64").toString()) ?? [];
  if (position === undefined) throw unreadable();
  return Number(position);
}

const unreadable = () => refusal("PROTO_DESERIALIZATION_FAILURE", "Deserialization of protobuf message failed");
