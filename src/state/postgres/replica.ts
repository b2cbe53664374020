import type { Template } from "../../domain/template.js";
import { SingleFlight } from "../../util/async.js";
import { ChangeLog } from "../change-log.js";
import { contentHash, templateHash } from "../lookup-hash.js";
import { type ChangeFeed, type ContractIds, NotReady, type StoreReader, type StoreScan, type View } from "../port.js";
import { Confirmation } from "../confirmation.js";
import { hasSameKeys } from "./content-id.js";
import type { Database } from "./database.js";
import { asDatabaseError, type DatabaseError, orUnavailable } from "./errors.js";
import { byHash, fetchLookups, idsStatement, type TemplatesByHash } from "./fetch.js";
import type { Fetched, Lookup, Version } from "./lookups.js";
import {
  type FetchLookups,
  INCOMPLETE,
  LookupView,
  type ReadLimits,
  ReadSession,
  REQUEST_LIMITS,
} from "./read-session.js";
import { ReplicaCache } from "./replica-cache.js";

export interface ReplicaOptions {
  readonly templates: readonly Template[];
  /** The replica reads the state of this content id; see content-id.ts. */
  readonly contentId: string;
  /** Approximate size of the cache. */
  readonly cacheBytes: number;
  /** A monotonic clock in milliseconds. */
  readonly clock: () => number;
}

/** For health checks and metrics. */
export interface ReplicaStatus {
  /** Undefined before the first state. */
  readonly offset: number | undefined;
  /** Milliseconds since the store was last known to equal the ledger; undefined if it never was. */
  readonly age: number | undefined;
  /** Why the ledger is not the one that the store comes from; undefined if it is not known. */
  readonly otherHistory: string | undefined;
  /** Of the latest query. */
  readonly failure: DatabaseError | undefined;
  /** Whether a mirror has led with the content id of this process, and stores the keys by which it looks. */
  readonly isOurs: boolean;
}

/** A late result may be of the generation before. */
const MAX_COMPARED = 4;

/** Bounds what one scan reads of a large database. */
export const MAX_SCANNED_IDS = 10_000;
/** For what the steps of a scan have in common: factories, configurations, rules. */
const CACHE_BYTES = 8_000_000;
/** A step may check a hundred contracts, each with many lookups. */
export const SCAN_LIMITS: ReadLimits = { roundTrips: 100, lookups: 100_000, contracts: 100_000 };

/**
 * Reads a database that another process may write. Every query also returns what has changed since the last one, and so
 * moves the replica: from no state to the one of the database, and from offset to offset. A read is answered from the cache
 * if it has all, else by a session of queries. NotReady while there is no state, or one of another configuration.
 */
export class Replica implements StoreReader {
  readonly #database: Database;
  readonly #options: ReplicaOptions;
  readonly #templates: TemplatesByHash;
  readonly #changes = new ChangeLog();
  readonly #cache: ReplicaCache;
  readonly #refresh = new SingleFlight(async () => {
    await this.#fetch(this.#cache.version, [], []);
  });
  readonly #confirmation = new Confirmation();
  #failure: DatabaseError | undefined;
  #isOurs = true;
  /** Whether the contracts of a generation are stored under our keys; of the latest generations. */
  readonly #hasOurKeys = new Map<number, boolean>();
  #otherHistory: string | undefined;
  /** The query that brought it: a late result must not replace it. */
  #otherHistoryQuery = 0;

  constructor(database: Database, options: ReplicaOptions) {
    this.#database = database;
    this.#options = options;
    this.#templates = byHash(options.templates);
    this.#cache = new ReplicaCache(options.cacheBytes, this.#changes);
  }

  get changes(): ChangeFeed {
    return this.#changes;
  }

  /** Another for each state. */
  get version(): string {
    const { generation, offset } = this.#cache.version;
    return `${generation} ${offset}`;
  }

  get status(): ReplicaStatus {
    const { generation, offset } = this.#cache.version;
    const { at } = this.#confirmation;
    return {
      offset: generation === 0 ? undefined : offset,
      age: at === undefined ? undefined : this.#options.clock() - at,
      otherHistory: this.#otherHistory,
      failure: this.#failure,
      isOurs: this.#isOurs,
    };
  }

  read<T>(use: (view: View) => T): T | Promise<T> {
    if (this.#cache.version.generation === 0 || !this.#isOurs) throw new NotReady();
    const value = new LookupView(this.#cache, true).run(use);
    if (value !== INCOMPLETE) return value;
    // From the start: what was found in the cache has to be refreshed with what it lacks.
    return new ReadSession(this.#cache, (...lookups) => this.#fetchForRead(...lookups), REQUEST_LIMITS).run(use);
  }

  /** A scan of the database, which leaves the cache as it is. It needs no end. */
  openScan(): StoreScan {
    return new ReplicaScan(
      this.#database,
      this.#options.contentId,
      (...lookups) => this.#fetchLookups(SCAN_LIMITS.contracts, ...lookups),
      (fetched) => this.#hasOurContent(fetched),
    );
  }

  /** Moves to the current state of the database, or a later one. Throws DatabaseError. */
  refresh(): Promise<void> {
    return this.#refresh.run();
  }

  async #fetchForRead(since: Version, missing: readonly Lookup[], known: readonly Lookup[]): Promise<Fetched> {
    const fetched = await orUnavailable(this.#fetch(since, missing, known));
    if (fetched.version.generation === 0 || !this.#hasOurContent(fetched)) throw new NotReady();
    return fetched;
  }

  #fetchLookups(maxContracts: number, ...lookups: Parameters<FetchLookups>): Promise<Fetched> {
    return fetchLookups(this.#database, this.#options.contentId, this.#templates, maxContracts, ...lookups);
  }

  #hasOurContent({ version, hasState }: Fetched): boolean {
    return hasState && this.#hasOurKeys.get(version.generation) !== false;
  }

  /** Compares a sample of the index keys of a generation, once. */
  async #compareKeys({ version: { generation } }: Fetched): Promise<void> {
    if (generation === 0 || this.#hasOurKeys.has(generation)) return;
    this.#hasOurKeys.set(generation, await hasSameKeys(this.#database, generation, this.#options.templates));
    const [oldest] = this.#hasOurKeys.keys();
    if (this.#hasOurKeys.size > MAX_COMPARED && oldest !== undefined) this.#hasOurKeys.delete(oldest);
  }

  async #fetch(since: Version, missing: readonly Lookup[], known: readonly Lookup[]): Promise<Fetched> {
    const startedAt = this.#options.clock();
    const queryNumber = this.#cache.nextQueryNumber();
    try {
      const fetched = await this.#fetchLookups(REQUEST_LIMITS.contracts, since, missing, known);
      // Before its contracts can be found.
      await this.#compareKeys(fetched);
      this.#failure = undefined;
      this.#cache.merge(fetched, since, queryNumber);
      // A result that arrives late is not of the served state.
      if (fetched.version.generation === this.#cache.version.generation) this.#isOurs = this.#hasOurContent(fetched);
      if (queryNumber > this.#otherHistoryQuery) {
        this.#otherHistory = fetched.otherHistory;
        this.#otherHistoryQuery = queryNumber;
      }
      this.#confirmation.observe(fetched.heartbeat, startedAt, queryNumber);
      return fetched;
    } catch (error) {
      this.#failure = asDatabaseError(error);
      throw this.#failure;
    }
  }
}

/**
 * Reads the database past the cache of the replica: the scan has a small one of its own. `fetch` executes lookups;
 * `isOurs` says whether this process can use a result.
 */
class ReplicaScan implements StoreScan {
  readonly #database: Database;
  readonly #contentId: string;
  readonly #fetch: FetchLookups;
  readonly #isOurs: (fetched: Fetched) => boolean;
  readonly #cache = new ReplicaCache(CACHE_BYTES);

  constructor(database: Database, contentId: string, fetch: FetchLookups, isOurs: (fetched: Fetched) => boolean) {
    this.#database = database;
    this.#contentId = contentId;
    this.#fetch = fetch;
    this.#isOurs = isOurs;
  }

  async ids(template: Template): Promise<ContractIds> {
    const values = [templateHash(template), MAX_SCANNED_IDS + 1, contentHash(this.#contentId)];
    const rows = await orUnavailable(this.#database.read<{ contract_id: string }>(idsStatement, values));
    const ids = rows.map(({ contract_id }) => contract_id);
    return { ids: ids.slice(0, MAX_SCANNED_IDS), isComplete: ids.length <= MAX_SCANNED_IDS };
  }

  read<T>(use: (view: View) => T): Promise<T> {
    const fetch: FetchLookups = async (since, missing, known) => {
      const queryNumber = this.#cache.nextQueryNumber();
      const fetched = await orUnavailable(this.#fetch(since, missing, known));
      if (fetched.version.generation === 0 || !this.#isOurs(fetched)) throw new NotReady();
      this.#cache.merge(fetched, since, queryNumber);
      return fetched;
    };
    return new ReadSession(this.#cache, fetch, SCAN_LIMITS).run(use);
  }
}
