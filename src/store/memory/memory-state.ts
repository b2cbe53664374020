import { compactClone } from "./compact-clone.js";
import { HotContractCache } from "./hot-contract-cache.js";
import { type Change, type Contract, type CountedOnly, isStored, newestFirst } from "../../domain/contract.js";
import type { Template } from "../../domain/template.js";
import { MAX_ARCHIVED_IDS, type TemplateCount } from "../port.js";
import { idHash, sumHash, anyRegistrarHash, type Tag, tagOf } from "../lookup-hash.js";
import { touchedLookups } from "../touched-lookups.js";
import { Aggregates } from "./aggregates.js";

/** The contracts at one offset with their indexes. Updates change it in place. */
export class MemoryState {
  #offset: number;
  #asOf: number | undefined;
  readonly #contracts = new Map<string, Contract>();
  readonly #hot = new HotContractCache();
  /** Each list is newest first, and replaced instead of changed: a reader may hold one. */
  readonly #byKey = new Map<string, readonly Contract[]>();
  readonly #byTemplate = new Map<Template, Set<string>>();
  /** The latest archivals, oldest first, each with the registrar of the contract if it was stored and has one. */
  readonly #archived = new Map<string, string | undefined>();
  readonly #aggregates = new Aggregates();

  /** Throws an Error if a contract id appears twice. */
  constructor(
    contracts: Iterable<Contract | CountedOnly>,
    readonly generation: string,
    offset: number,
    asOf: number | undefined,
  ) {
    this.#offset = offset;
    this.#asOf = asOf;
    const lists = new Map<string, Contract[]>();
    for (const contract of contracts) {
      const { contractId } = contract;
      if (this.#contracts.has(contractId) || this.#aggregates.isCountedOnly(contractId)) {
        throw new Error(`contract ${contractId} appears twice`);
      }
      this.#aggregates.add(contract);
      if (!isStored(contract)) continue;
      this.#contracts.set(contractId, contract);
      this.#idsOf(contract.template).add(contract.contractId);
      for (const key of contract.indexKeys) append(lists, key, contract);
    }
    for (const [key, list] of lists) this.#byKey.set(key, list.toSorted(newestFirst));
  }

  get offset(): number {
    return this.#offset;
  }

  get asOf(): number | undefined {
    return this.#asOf;
  }

  templateCounts(): readonly TemplateCount[] {
    return this.#aggregates.templateCounts();
  }

  sum(name: string): bigint {
    return this.#aggregates.sum(name);
  }

  byId(contractId: string, mayClone: boolean): Contract | undefined {
    const hot = this.#hot.get(contractId);
    if (hot !== undefined) return hot;
    const stored = this.#contracts.get(contractId);
    if (stored === undefined) return undefined;
    const contract = mayClone ? this.#cloneOnce(stored) : stored;
    this.#hot.add(contract);
    return contract;
  }

  /** As `byId`, without a copy and without an entry among the contracts last read. */
  peek(contractId: string): Contract | undefined {
    return this.#contracts.get(contractId);
  }

  byKey(key: string): readonly Contract[] {
    return this.#byKey.get(key) ?? [];
  }

  byTemplate(template: Template): readonly Contract[] {
    const contracts: Contract[] = [];
    for (const contractId of this.#byTemplate.get(template) ?? []) {
      const contract = this.#contracts.get(contractId);
      if (contract === undefined) throw new Error(`contract ${contractId} is indexed by template but not stored`);
      contracts.push(contract);
    }
    return contracts;
  }

  idsByTemplate(template: Template): readonly string[] {
    return [...(this.#byTemplate.get(template) ?? [])];
  }

  wasArchived(contractId: string, registrar?: string): boolean {
    if (registrar !== undefined) return this.#archived.get(contractId) === registrar;
    return this.#archived.has(contractId);
  }

  /** Must not run in a read that may hold the contract. Keeps one that was cloned, has derived data, or is in lists. */
  #cloneOnce(stored: Contract): Contract {
    if (stored.slots !== undefined || stored.indexKeys.length > 0) return stored;
    const clone = compactClone(stored);
    this.#contracts.set(stored.contractId, clone);
    return clone;
  }

  /** Returns the tags of what has changed. Synchronous, so no reader runs between two changes. */
  apply(changes: readonly Change[], offset: number, asOf: number | undefined): ReadonlySet<Tag> {
    const tags = new Set<Tag>();
    if (offset <= this.#offset) return tags;
    for (const change of changes) this.#apply(change, tags);
    this.#offset = offset;
    this.#asOf = asOf ?? this.#asOf;
    return tags;
  }

  #apply(change: Change, tags: Set<Tag>): void {
    if ("archived" in change) {
      tags.add(tagOf(idHash(change.archived)));
      const stored = this.#contracts.get(change.archived);
      this.#addTags(stored, tags);
      const counted = this.#aggregates.countedOnly(change.archived);
      if (counted !== undefined) tags.add(tagOf(sumHash(counted.sum))).add(tagOf(anyRegistrarHash));
      this.#remove(change.archived);
      this.#aggregates.removeCountedOnly(change.archived);
      this.#addArchived(change.archived, stored?.template.registrarOf?.(stored.fields));
    } else if ("unassigned" in change) {
      const stored = this.#contracts.get(change.unassigned);
      // With an equal counter the assignment was applied first, and this event is older.
      if (stored === undefined || change.reassignmentCounter <= stored.reassignmentCounter) return;
      this.#addTags(stored, tags);
      this.#upsert(toUnassigned(stored, change.reassignmentCounter));
    } else if (isStored(change.active)) {
      const stored = this.#contracts.get(change.active.contractId);
      if (stored !== undefined && change.active.reassignmentCounter < stored.reassignmentCounter) return;
      this.#addTags(change.active, tags);
      this.#upsert(change.active);
    } else if (!this.#aggregates.isCountedOnly(change.active.contractId)) {
      // A reassigned contract counts once.
      this.#addTags(change.active, tags);
      this.#aggregates.add(change.active);
    }
  }

  #addTags(contract: Contract | CountedOnly | undefined, tags: Set<Tag>): void {
    if (contract === undefined) return;
    for (const hash of touchedLookups(contract)) tags.add(tagOf(hash));
  }

  #upsert(contract: Contract): void {
    this.#remove(contract.contractId);
    this.#aggregates.add(contract);
    this.#contracts.set(contract.contractId, contract);
    this.#idsOf(contract.template).add(contract.contractId);
    for (const key of contract.indexKeys) {
      const list = this.#byKey.get(key) ?? [];
      const index = list.findIndex((other) => newestFirst(contract, other) < 0);
      this.#byKey.set(key, list.toSpliced(index === -1 ? list.length : index, 0, contract));
    }
  }

  #remove(contractId: string): void {
    const stored = this.#contracts.get(contractId);
    if (stored === undefined) return;
    this.#contracts.delete(contractId);
    this.#hot.delete(contractId);
    this.#aggregates.remove(stored);
    this.#byTemplate.get(stored.template)?.delete(contractId);
    for (const key of stored.indexKeys) {
      const list = (this.#byKey.get(key) ?? []).filter((contract) => contract !== stored);
      if (list.length === 0) this.#byKey.delete(key);
      else this.#byKey.set(key, list);
    }
  }

  #addArchived(contractId: string, registrar: string | undefined): void {
    this.#archived.set(contractId, registrar);
    for (const oldest of this.#archived.keys()) {
      if (this.#archived.size <= MAX_ARCHIVED_IDS) break;
      this.#archived.delete(oldest);
    }
  }

  #idsOf(template: Template): Set<string> {
    let ids = this.#byTemplate.get(template);
    if (ids === undefined) {
      ids = new Set();
      this.#byTemplate.set(template, ids);
    }
    return ids;
  }
}

function append(lists: Map<string, Contract[]>, key: string, contract: Contract): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [contract]);
  else list.push(contract);
}

/** The contract between two synchronizers. The order of the fields keeps one hidden class; see ledger/decode.ts. */
function toUnassigned(contract: Contract, reassignmentCounter: number): Contract {
  return {
    fields: contract.fields,
    template: contract.template,
    synchronizerId: undefined,
    slots: undefined,
    indexKeys: contract.indexKeys,
    supply: contract.supply,
    contractId: contract.contractId,
    templateId: contract.templateId,
    payload: contract.payload,
    createdEventBlob: contract.createdEventBlob,
    createdAt: contract.createdAt,
    createdMicros: contract.createdMicros,
    reassignmentCounter,
  };
}
