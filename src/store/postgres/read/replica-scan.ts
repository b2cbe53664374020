import type { Template } from "../../../domain/template.js";
import { type ContractIds, NotReady, type StoreScan, type View } from "../../port.js";
import type { Database } from "../database.js";
import { asDatabaseError, toUnavailable } from "../errors.js";
import { templateHash } from "../../lookup-hash.js";
import { idsStatement } from "./ids.sql.js";
import type { Fetched } from "./fetch.js";
import { type FetchLookups, type ReadLimits, ReadSession } from "./read-session.js";
import { ReplicaCache } from "./replica-cache.js";

/** Bounds what one scan reads of a large database. */
export const MAX_SCANNED_IDS = 10_000;
/** For what the steps of a scan have in common: factories, configurations, rules. */
const CACHE_BYTES = 8_000_000;
/** A step may check a hundred contracts, each with many lookups. */
export const SCAN_LIMITS: ReadLimits = { roundTrips: 100, lookups: 100_000, contracts: 100_000 };

/**
 * Reads the database past the cache of the replica: the scan has a small one of its own. `fetch` executes lookups;
 * `isOurs` says whether this process can use a result.
 */
export class ReplicaScan implements StoreScan {
  readonly #database: Database;
  readonly #fetch: FetchLookups;
  readonly #isOurs: (fetched: Fetched) => boolean;
  readonly #cache = new ReplicaCache(CACHE_BYTES);

  constructor(database: Database, fetch: FetchLookups, isOurs: (fetched: Fetched) => boolean) {
    this.#database = database;
    this.#fetch = fetch;
    this.#isOurs = isOurs;
  }

  async ids(template: Template): Promise<ContractIds> {
    try {
      const values = [templateHash(template), MAX_SCANNED_IDS + 1];
      const rows = await this.#database.query<{ contract_id: string }>(idsStatement, values);
      const ids = rows.map(({ contract_id }) => contract_id);
      return { ids: ids.slice(0, MAX_SCANNED_IDS), isComplete: ids.length <= MAX_SCANNED_IDS };
    } catch (error) {
      throw toUnavailable(asDatabaseError(error));
    }
  }

  read<T>(use: (view: View) => T): Promise<T> {
    const fetch: FetchLookups = async (since, missing, known) => {
      const queryNumber = this.#cache.nextQueryNumber();
      const fetched = await this.#fetchLookups(since, missing, known);
      if (fetched.version.generation === 0 || !this.#isOurs(fetched)) throw new NotReady();
      this.#cache.merge(fetched, since, queryNumber);
      return fetched;
    };
    return new ReadSession(this.#cache, fetch, SCAN_LIMITS).run(use);
  }

  async #fetchLookups(...lookups: Parameters<FetchLookups>): Promise<Fetched> {
    try {
      return await this.#fetch(...lookups);
    } catch (error) {
      throw toUnavailable(asDatabaseError(error));
    }
  }
}
