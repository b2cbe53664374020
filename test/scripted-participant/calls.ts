/** The calls of the API, independent of HTTP and WebSocket. */
import { type CheckpointMs, checkpointTimes } from "./checkpoints.js";
import { refusal } from "./errors.js";
import { filterOf } from "./filters.js";
import type { ScriptedLedger } from "./ledger.js";
import type {
  ActiveContractsElement,
  ActiveContractsRequest,
  ConnectedSynchronizer,
  ConnectedSynchronizers,
  EventFormat,
  EventsRequest,
  EventsResponse,
  LedgerEnd,
  PrepareResponse,
  PrunedOffsets,
  UpdateByIdRequest,
  UpdateByOffsetRequest,
  UpdateResponse,
  UpdateFormat,
  UpdatesRequest,
  Version,
} from "./messages.js";
import { eventsOf, updateOf } from "./lookups.js";
import { prepare } from "./prepare.js";
import type { Preparation } from "./prepare-request.js";
import { snapshot } from "./snapshot.js";
import type { Tokens } from "./tokens.js";
import { type View, viewOf } from "./updates.js";
import type { Vetted } from "./vetting.js";

export interface Serving {
  readonly ledger: ScriptedLedger;
  /** Names of the uploaded packages; undefined if every name is accepted. */
  readonly packageNames: ReadonlySet<string> | undefined;
  readonly checkpointMs: CheckpointMs;
  readonly tokens: Tokens | undefined;
  /** The known parties; undefined if every party is known. */
  readonly parties?: ReadonlySet<string> | undefined;
  readonly vetted?: readonly Vetted[];
}

/** Every method throws a Refusal where a participant would answer with an error. */
export class Calls {
  readonly ledger: ScriptedLedger;
  readonly checkpointMs: CheckpointMs;
  readonly vetted: readonly Vetted[];
  readonly #parties: ReadonlySet<string> | undefined;
  readonly #packageNames: ReadonlySet<string> | undefined;
  readonly #tokens: Tokens | undefined;
  readonly #token: string | undefined;

  constructor(
    { ledger, packageNames, checkpointMs, tokens, parties, vetted = [] }: Serving,
    token: string | undefined,
  ) {
    this.ledger = ledger;
    this.checkpointMs = checkpointMs;
    this.vetted = vetted;
    this.#parties = parties;
    this.#packageNames = packageNames;
    this.#tokens = tokens;
    this.#token = token;
  }

  ledgerEnd(): LedgerEnd {
    return { offset: this.ledger.end };
  }

  prunedOffsets(): PrunedOffsets {
    return { participantPrunedUpToInclusive: this.ledger.pruned, allDivulgedContractsPrunedUpToInclusive: 0 };
  }

  connectedSynchronizers(): ConnectedSynchronizers {
    const entries = this.ledger.log.between(0);
    const ids = new Set([this.ledger.synchronizerId, ...entries.map(({ synchronizerId }) => synchronizerId)]);
    const connectedSynchronizers = [...ids].map((synchronizerId): ConnectedSynchronizer => {
      const synchronizerAlias = synchronizerId.split("::")[0] ?? "";
      return { synchronizerAlias, synchronizerId, permission: "PARTICIPANT_PERMISSION_UNSPECIFIED" };
    });
    return { connectedSynchronizers };
  }

  version(): Version {
    const seconds = Math.ceil((checkpointTimes(this.checkpointMs).idle * 75) / 64_000);
    return {
      version: "3.5.1",
      features: {
        experimental: { staticTime: { supported: false }, commandInspectionService: { supported: true } },
        userManagement: { supported: true, maxRightsPerUser: 1000, maxUsersPageSize: 1000 },
        partyManagement: { maxPartiesPageSize: 10_000 },
        offsetCheckpoint: { maxOffsetCheckpointEmissionDelay: { seconds, nanos: 0, unknownFields: { fields: {} } } },
        packageFeature: { maxVettedPackagesPageSize: 100 },
      },
    };
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
    return snapshot(log.between(0, activeAtOffset), filterOf(eventFormat, this.#packageNames));
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
    return viewOf(updateFormat, this.#packageNames);
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
    return eventsOf(this.ledger.log, contractId, filterOf(eventFormat, this.#packageNames));
  }

  prepareSubmission(request: Preparation): PrepareResponse {
    this.#checkParties(request.parties);
    if (request.userId === undefined && this.#tokens === undefined) {
      throw refusal("INVALID_TOKEN", "The submitted request is missing a user-id");
    }
    return prepare(request, this.ledger, this.#packageNames, this.#parties);
  }

  updateById({ updateId, updateFormat }: UpdateByIdRequest): UpdateResponse {
    return this.#update(updateId, updateFormat);
  }

  updateByOffset({ offset, updateFormat }: UpdateByOffsetRequest): UpdateResponse {
    return this.#update(offset, updateFormat);
  }

  #update(which: string | number, format: UpdateFormat): UpdateResponse {
    this.#checkRights(format.includeTransactions?.eventFormat, format.includeReassignments);
    return updateOf(this.ledger.log, which, viewOf(format, this.#packageNames));
  }

  #checkRights(...formats: readonly (EventFormat | undefined)[]): void {
    this.#checkParties(formats.flatMap((format) => Object.keys(format?.filtersByParty ?? {})));
  }

  #checkParties(parties: readonly string[]): void {
    const mayRead = (party: string) => this.#token === undefined || this.#tokens?.mayRead(this.#token, party) !== false;
    if (!parties.every(mayRead)) throw refusal("PERMISSION_DENIED", "The token is not good for all these parties");
  }
}

function prunedAccess(cause: string, pruned: number) {
  return refusal("PARTICIPANT_PRUNED_DATA_ACCESSED", cause, { context: { earliest_offset: String(pruned) } });
}
