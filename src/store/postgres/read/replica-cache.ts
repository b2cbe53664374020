import type { Contract } from "../../../domain/contract.js";
import type { LookupHash } from "../lookup-hash.js";
import type { Fetched, Version } from "./fetch.js";
import { LookupMap, type LookupResult, type Lookup, hashOf } from "./lookups.js";

/** Something that is kept. */
interface Entry {
  readonly lookup: Lookup;
  readonly name: LookupHash;
  readonly found: LookupResult;
  /** Whether it was asked for since it was last considered to be let go. */
  used: boolean;
}

/** What has changed on the way from one version to another. */
interface Invalidation {
  readonly offset: number;
  readonly touched: ReadonlySet<LookupHash>;
}

/** No state yet: every one is newer. */
export const NO_VERSION: Version = { generation: 0, offset: 0, asOf: undefined };

/** How many steps are remembered, for answers of the database that come late. */
const STEPS = 200;
/** What an entry takes besides its contracts, and a contract besides its texts, written or not: roughly, in bytes. */
const ENTRY_WEIGHT = 400;
const CONTRACT_WEIGHT = 2_000;

/**
 * What was asked for most, all of one version of the store. A step to the next
 * version lets go of what it has touched, and of everything where it is not
 * known what that is.
 */
export class ReplicaCache {
  readonly #max: number;
  readonly #entries = new LookupMap<Entry>();
  /** In the order in which they are considered to be let go. */
  readonly #queue = new Set<Entry>();
  readonly #byName = new Map<LookupHash, Entry>();
  /** Every contract that an entry has, once, with how many have it. */
  readonly #contracts = new Map<string, { readonly contract: Contract; entries: number }>();
  readonly #steps: Invalidation[] = [];
  /** The steps are all that there were from this offset on. */
  #stepsFrom = 0;
  #version = NO_VERSION;
  /** Counts questions to the database, to tell which answers are older than the version. */
  #clock = 0;
  #versionAt = 0;
  #weight = 0;

  /** `most`: how much is kept, in bytes, roughly. */
  constructor(max: number) {
    this.#max = max;
  }

  get version(): Version {
    return this.#version;
  }

  byId(contractId: string): LookupResult | undefined {
    return used(this.#entries.byId(contractId));
  }

  byKey(key: string): LookupResult | undefined {
    return used(this.#entries.byKey(key));
  }

  get(lookup: Lookup): LookupResult | undefined {
    return used(this.#entries.get(lookup));
  }

  /** The contract as it is kept, where it is the same, so that what was written of it is found again. */
  canonical(contract: Contract): Contract {
    const kept = this.#contracts.get(contract.contractId)?.contract;
    return kept !== undefined && isSame(kept, contract) ? kept : contract;
  }

  /** To be called before each question to the database; `take` wants what it gives. */
  nextQueryNumber(): number {
    return ++this.#clock;
  }

  /**
   * Takes what a question has brought: a newer version, what has changed on the
   * way to it since the version that the question told, and what was found.
   */
  merge({ version, isContiguous, invalidated, found }: Fetched, since: Version, askedAt: number): void {
    const { generation, offset } = this.#version;
    const isSame = version.generation === generation;
    if (isSame && version.offset > offset) {
      // What has changed since an earlier version is more than enough.
      if (isContiguous && since.generation === generation && since.offset <= offset) this.#step(version, invalidated);
      else this.#begin(version);
    } else if (!isSame || version.offset < offset) {
      const wasOvertaken = askedAt <= this.#versionAt && version.generation <= generation;
      if (!wasOvertaken) this.#begin(version);
      else if (!isSame) return;
    }
    for (const [lookup, one] of found) this.#add(lookup, one, version);
  }

  /** Nothing of before is known to hold. */
  #begin(version: Version): void {
    this.#entries.clear();
    this.#queue.clear();
    this.#byName.clear();
    this.#contracts.clear();
    this.#steps.length = 0;
    this.#weight = 0;
    this.#version = version;
    this.#versionAt = this.#clock;
    this.#stepsFrom = version.offset;
  }

  #step(version: Version, touched: ReadonlySet<LookupHash>): void {
    for (const name of touched) {
      const entry = this.#byName.get(name);
      if (entry !== undefined) this.#remove(entry);
    }
    this.#steps.push({ offset: version.offset, touched });
    if (this.#steps.length > STEPS) this.#stepsFrom = this.#steps.shift()?.offset ?? version.offset;
    this.#version = version;
    this.#versionAt = this.#clock;
  }

  #add(lookup: Lookup, found: LookupResult, version: Version): void {
    // Ids that lead to nothing can be made up without end.
    if (lookup.by === "id" && found.contracts.length === 0) return;
    // It changes all the time, and hardly anybody asks for it: no update says that it has touched it.
    if (lookup.by === "census") return;
    const name = hashOf(lookup);
    if (!this.#holds(name, version) || this.#byName.has(name)) return;
    const entry: Entry = { lookup, name, found: this.#own(found), used: true };
    this.#entries.set(lookup, entry);
    this.#byName.set(name, entry);
    this.#queue.add(entry);
    this.#weight += weightOfEntry(lookup);
    this.#shrink();
  }

  /** Whether what was found under a name at a version holds at ours. */
  #holds(name: LookupHash, { offset }: Version): boolean {
    if (offset === this.#version.offset) return true;
    return offset >= this.#stepsFrom && !this.#steps.some((step) => step.offset > offset && step.touched.has(name));
  }

  /** The same with the contracts that are kept already, where they are the same. */
  #own(found: LookupResult): LookupResult {
    const contracts = found.contracts.map((one) => {
      const contract = this.canonical(one);
      const kept = this.#contracts.get(contract.contractId);
      if (kept !== undefined) kept.entries++;
      else {
        this.#contracts.set(contract.contractId, { contract, entries: 1 });
        this.#weight += weightOf(contract);
      }
      return contract;
    });
    return { ...found, contracts };
  }

  #remove(entry: Entry): void {
    this.#entries.delete(entry.lookup);
    this.#byName.delete(entry.name);
    this.#queue.delete(entry);
    this.#weight -= weightOfEntry(entry.lookup);
    for (const contract of entry.found.contracts) {
      const kept = this.#contracts.get(contract.contractId);
      if (kept === undefined || --kept.entries > 0) continue;
      this.#contracts.delete(contract.contractId);
      this.#weight -= weightOf(contract);
    }
  }

  /** Lets go of what was not asked for since it was considered last. */
  #shrink(): void {
    for (const entry of this.#queue) {
      if (this.#weight <= this.#max) return;
      if (entry.used) {
        entry.used = false;
        this.#queue.delete(entry);
        this.#queue.add(entry);
      } else this.#remove(entry);
    }
  }
}

function used(entry: Entry | undefined): LookupResult | undefined {
  if (entry === undefined) return undefined;
  entry.used = true;
  return entry.found;
}

/** Whether both are the same contract in the same place. */
export const isSame = (a: Contract, b: Contract): boolean =>
  a.reassignmentCounter === b.reassignmentCounter && a.synchronizerId === b.synchronizerId && a.template === b.template;

/** What is asked for may be a long text. */
function weightOfEntry(lookup: Lookup): number {
  const text = lookup.by === "id" ? lookup.contractId : lookup.by === "key" ? lookup.key : "";
  return ENTRY_WEIGHT + 2 * text.length;
}

/** With what is written of it, in one form. */
const weightOf = ({ payload, createdEventBlob }: Contract): number =>
  CONTRACT_WEIGHT + 2 * (payload.length + createdEventBlob.length);
