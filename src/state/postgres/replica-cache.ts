import type { StoredContract } from "../../domain/contract.js";
import type { ChangeLog } from "../change-log.js";
import { type LookupHash, tagOf } from "../lookup-hash.js";
import type { Position } from "../port.js";
import { type Fetched, hashOf, keyOf, type Lookup, type LookupResult, NO_VERSION, type Version } from "./lookups.js";

interface Entry {
  readonly key: string;
  readonly hash: LookupHash;
  readonly result: LookupResult;
  /** Set by each hit, cleared when eviction passes over the entry. */
  wasUsed: boolean;
}

interface Invalidation {
  readonly offset: number;
  readonly hashes: ReadonlySet<LookupHash>;
}

/** How many invalidations are kept, for results that arrive late. */
const MAX_INVALIDATIONS = 200;
/** Approximate bytes of an entry without its contracts, and of a contract without its texts. */
const ENTRY_BYTES = 400;
const CONTRACT_BYTES = 2_000;

/**
 * Results of lookups, all valid at one version of the store. Eviction is second chance, bounded by bytes. The package
 * lru-cache does not fit: entries share contracts, so the size of an entry changes with its neighbours.
 */
export class ReplicaCache {
  readonly #maxBytes: number;
  readonly #changes: ChangeLog | undefined;
  /** By key, in the order of eviction. */
  readonly #entries = new Map<string, Entry>();
  readonly #byHash = new Map<LookupHash, Entry>();
  /** Each contract in any entry, with the number of these entries. */
  readonly #contracts = new Map<string, { readonly contract: StoredContract; entries: number }>();
  readonly #invalidations: Invalidation[] = [];
  /** `#invalidations` is complete after this offset. */
  #invalidationsFrom = 0;
  #version = NO_VERSION;
  /** Numbers queries, to tell which results are older than the version. */
  #queryNumber = 0;
  #versionQueryNumber = 0;
  #bytes = 0;

  /** `changes` records what invalidates entries, also of lookups that have none. */
  constructor(maxBytes: number, changes?: ChangeLog) {
    this.#maxBytes = maxBytes;
    this.#changes = changes;
  }

  get version(): Version {
    return this.#version;
  }

  get(lookup: Lookup): LookupResult | undefined {
    const entry = this.#entries.get(keyOf(lookup));
    if (entry === undefined) return undefined;
    entry.wasUsed = true;
    return entry.result;
  }

  /** Returns the cached object of an equal contract, whose body has its encodings, or else the given one. */
  canonical(contract: StoredContract): StoredContract {
    const cached = this.#contracts.get(contract.contractId)?.contract;
    return cached !== undefined && isSameContract(cached, contract) ? cached : contract;
  }

  /** Call this before each query, and pass the number to `merge`. */
  nextQueryNumber(): number {
    return ++this.#queryNumber;
  }

  /** Takes the result of a query that asked what has changed since a version. */
  merge({ version, isContiguous, invalidated, results }: Fetched, since: Version, queryNumber: number): void {
    const { generation, offset } = this.#version;
    const isSameGeneration = version.generation === generation;
    if (isSameGeneration && version.offset > offset) {
      // Changes since an earlier version include all that is needed.
      const isKnown = isContiguous && since.generation === generation && since.offset <= offset;
      if (isKnown) this.#advance(version, invalidated);
      else this.#reset(version);
    } else if (!isSameGeneration || version.offset < offset) {
      // Either the store was set back, or a newer result has overtaken this one.
      const wasOvertaken = queryNumber <= this.#versionQueryNumber && version.generation <= generation;
      if (!wasOvertaken) this.#reset(version);
      else if (!isSameGeneration) return;
    }
    for (const [lookup, result] of results) this.#add(lookup, result, version);
  }

  #reset(version: Version): void {
    this.#entries.clear();
    this.#byHash.clear();
    this.#contracts.clear();
    this.#invalidations.length = 0;
    this.#bytes = 0;
    this.#version = version;
    this.#versionQueryNumber = this.#queryNumber;
    this.#invalidationsFrom = version.offset;
    this.#changes?.reset(positionOf(version));
  }

  #advance(version: Version, hashes: ReadonlySet<LookupHash>): void {
    for (const hash of hashes) {
      const entry = this.#byHash.get(hash);
      if (entry !== undefined) this.#remove(entry);
    }
    this.#invalidations.push({ offset: version.offset, hashes });
    if (this.#invalidations.length > MAX_INVALIDATIONS)
      this.#invalidationsFrom = this.#invalidations.shift()?.offset ?? version.offset;
    this.#version = version;
    this.#versionQueryNumber = this.#queryNumber;
    this.#changes?.append({ ...positionOf(version), tags: new Set(Array.from(hashes, tagOf)) });
  }

  #add(lookup: Lookup, result: LookupResult, version: Version): void {
    // Callers can make up unknown ids without end.
    if (lookup.by === "id" && result.contracts.length === 0) return;
    // Almost every update changes the counts, so updates do not invalidate them.
    if (lookup.by === "templateCounts") return;
    const hash = hashOf(lookup);
    if (!this.#isValid(hash, version) || this.#byHash.has(hash)) return;
    const entry: Entry = { key: keyOf(lookup), hash, result: this.#retainContracts(result), wasUsed: true };
    this.#entries.set(entry.key, entry);
    this.#byHash.set(hash, entry);
    this.#bytes += entryBytes(entry);
    this.#evict();
  }

  /** Whether a result of another version is valid at the version of the cache. */
  #isValid(hash: LookupHash, { offset }: Version): boolean {
    if (offset === this.#version.offset) return true;
    if (offset < this.#invalidationsFrom) return false;
    return !this.#invalidations.some((invalidation) => invalidation.offset > offset && invalidation.hashes.has(hash));
  }

  #retainContracts(result: LookupResult): LookupResult {
    const contracts = result.contracts.map((found) => {
      const contract = this.canonical(found);
      const retained = this.#contracts.get(contract.contractId);
      if (retained !== undefined) retained.entries++;
      else {
        this.#contracts.set(contract.contractId, { contract, entries: 1 });
        this.#bytes += contractBytes(contract);
      }
      return contract;
    });
    return { ...result, contracts };
  }

  #remove(entry: Entry): void {
    this.#entries.delete(entry.key);
    this.#byHash.delete(entry.hash);
    this.#bytes -= entryBytes(entry);
    for (const contract of entry.result.contracts) {
      const retained = this.#contracts.get(contract.contractId);
      if (retained === undefined || --retained.entries > 0) continue;
      this.#contracts.delete(contract.contractId);
      this.#bytes -= contractBytes(contract);
    }
  }

  #evict(): void {
    for (const entry of this.#entries.values()) {
      if (this.#bytes <= this.#maxBytes) return;
      if (entry.wasUsed) {
        entry.wasUsed = false;
        this.#entries.delete(entry.key);
        this.#entries.set(entry.key, entry);
      } else this.#remove(entry);
    }
  }
}

/** Generations are numbered by the clock of the database: a name is not used again. */
const positionOf = ({ generation, offset, asOf }: Version): Position => ({
  generation: String(generation),
  offset,
  asOf,
});

/** For contracts with the same id. */
export const isSameContract = (a: StoredContract, b: StoredContract): boolean =>
  a.reassignmentCounter === b.reassignmentCounter && a.synchronizerId === b.synchronizerId && a.template === b.template;

const entryBytes = ({ key }: Entry): number => ENTRY_BYTES + 2 * key.length;

/** Twice the texts: the contract itself, and its encoding in one form. */
const contractBytes = ({ body: { payload, createdEventBlob } }: StoredContract): number =>
  CONTRACT_BYTES + 2 * (payload.length + createdEventBlob.length);
