import type { ContractDecoder } from "../contract-decoder.js";
import type { Database } from "../database.js";
import type { LookupHash } from "../../lookup-hash.js";
import { decodeRows, type FetchRow } from "./fetch-rows.js";
import { fetchStatement } from "./fetch.sql.js";
import { hashOf, type Lookup, type LookupResult } from "./lookups.js";

/** Identifies a state of the store. */
export interface Version {
  /** The snapshot that the state comes from; 0 if there is none yet. */
  readonly generation: number;
  readonly offset: number;
  readonly asOf: number | undefined;
}

export interface Fetched {
  readonly version: Version;
  /** Identifies what the store holds and how it is read; see content-id.ts. */
  readonly contentId: string;
  /** Milliseconds since the store was last known to equal the ledger; undefined if it never was. */
  readonly age: number | undefined;
  /** Why the ledger is not the one that the store comes from; undefined if it is not known. */
  readonly otherHistory: string | undefined;
  /** Whether `invalidated` is everything that has changed since the given version. If false, anything may have. */
  readonly isContiguous: boolean;
  readonly invalidated: ReadonlySet<LookupHash>;
  /** Results of the missing lookups, and of the known lookups that have changed. */
  readonly results: ReadonlyMap<Lookup, LookupResult>;
  /** Whether results are left out because they have too many contracts. */
  readonly isTruncated: boolean;
}

/** A reader that is more updates behind drops its whole cache instead of reading what each has changed. */
const MAX_UPDATES_BEHIND = 2_000;

/**
 * Executes missing lookups, and repeats known ones that have changed or are template counts. A lookup finds at most
 * `maxContracts`. Throws DatabaseError.
 */
export async function fetchLookups(
  database: Database,
  decoder: ContractDecoder,
  maxContracts: number,
  since: Version,
  missing: readonly Lookup[],
  known: readonly Lookup[],
): Promise<Fetched> {
  const rows = await database.query<FetchRow>(fetchStatement, [
    since.generation,
    since.offset,
    contractIds(missing).filter(isStorable),
    hashes(known, "id"),
    hashes(missing, "indexKey"),
    hashes(known, "indexKey"),
    hashes(missing, "template"),
    hashes(known, "template"),
    hashes(missing, "sum"),
    hashes(known, "sum"),
    contractIds(known).map((contractId) => (isStorable(contractId) ? contractId : "")),
    [...missing, ...known].some(({ by }) => by === "templateCounts"),
    MAX_UPDATES_BEHIND,
    maxContracts + 1,
  ]);
  return decodeRows(rows, decoder, maxContracts, missing, known);
}

const contractIds = (lookups: readonly Lookup[]): string[] =>
  lookups.flatMap((lookup) => (lookup.by === "id" ? [lookup.contractId] : []));

const hashes = (lookups: readonly Lookup[], by: Lookup["by"]): LookupHash[] =>
  lookups.filter((lookup) => lookup.by === by).map((lookup) => hashOf(lookup));

/** PostgreSQL text cannot hold NUL, and no contract id does. */
const isStorable = (contractId: string): boolean => !contractId.includes("\0");
