import { randomBytes } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import {
  type Change,
  type StoredContract,
  type CountedOnly,
  isStored,
  newestFirst,
  packageIdOf,
} from "../../domain/contract.js";
import type { SupplyContribution, Template } from "../../domain/template.js";
import { ChangeLog } from "../change-log.js";
import { anyRegistrarHash, idHash, sumHash, type Tag, tagOf, touchedLookups } from "../lookup-hash.js";
import {
  type ChangeFeed,
  type Checkpoint,
  type Contracts,
  MAX_ARCHIVED_IDS,
  NotReady,
  type StoreReader,
  type StoreScan,
  type StoreWriter,
  type TemplateCount,
  type View,
} from "../port.js";

/** A store in the memory of this process. Not ready until the first `replace`. */
export class MemoryStore implements StoreReader, StoreWriter {
  readonly #changes = new ChangeLog();
  readonly #newGeneration: () => string;
  #state: State | undefined;
  #checkpoint: Checkpoint | undefined;

  /** `newGeneration` returns a name that no store has used before. */
  constructor(newGeneration: () => string = () => randomBytes(9).toString("base64url")) {
    this.#newGeneration = newGeneration;
  }

  get changes(): ChangeFeed {
    return this.#changes;
  }

  get checkpoint(): Checkpoint | undefined {
    return this.#checkpoint;
  }

  read<T>(use: (view: View) => T): T {
    return use(new StateView(this.#ready()));
  }

  /** A scan of this store. It needs no end. */
  openScan(): StoreScan {
    return {
      ids: (template) => ({ ids: [...this.#ready().ofTemplate(template).keys()], isComplete: true }),
      read: (use) => this.read(use),
    };
  }

  async replace(contracts: Contracts, offset: number, asOf?: number): Promise<void> {
    const generation = this.#newGeneration();
    const state = new State(generation, offset, asOf);
    await state.fill(contracts);
    this.#state = state;
    this.#checkpoint = { offset, updateId: undefined };
    this.#changes.reset({ generation, offset, asOf });
  }

  async apply(changes: readonly Change[], offset: number, asOf?: number, updateId?: string): Promise<void> {
    const state = this.#ready();
    if (offset <= state.offset) return;
    this.#checkpoint = { offset, updateId };
    const tags = state.apply(changes, offset, asOf);
    this.#changes.append({ offset, asOf: state.asOf, tags });
  }

  #ready(): State {
    if (this.#state === undefined) throw new NotReady();
    return this.#state;
  }
}

/** Throws if it is used after the state has moved on, so that no caller reads a mix of two states. */
class StateView implements View {
  readonly generation: string;
  readonly offset: number;
  readonly asOf: number | undefined;
  readonly #state: State;

  constructor(state: State) {
    this.#state = state;
    this.generation = state.generation;
    this.offset = state.offset;
    this.asOf = state.asOf;
  }

  byId<F>(template: Template<F>, contractId: string): StoredContract<F> | undefined {
    const contract = this.#current().byId(contractId);
    // The fields of a contract are those of its template.
    return contract?.template === template ? (contract as StoredContract<F>) : undefined;
  }

  byKey<F>(template: Template<F>, key: string): readonly StoredContract<F>[] {
    const contracts = this.#current().byKey(key);
    // Two templates rarely share a key: return the list itself where possible.
    const isShared = contracts.some((contract) => contract.template !== template);
    return (
      isShared ? contracts.filter((one) => one.template === template) : contracts
    ) as readonly StoredContract<F>[];
  }

  all<F>(template: Template<F>): readonly StoredContract<F>[] {
    return [...this.#current().ofTemplate(template).values()].toSorted(newestFirst) as StoredContract<F>[];
  }

  wasArchived(contractId: string, registrar?: string): boolean {
    return this.#current().wasArchived(contractId, registrar);
  }

  templateCounts(): readonly TemplateCount[] {
    return this.#current().aggregates.templateCounts();
  }

  sums(names: readonly string[]): readonly bigint[] {
    const { aggregates } = this.#current();
    return names.map((name) => aggregates.sum(name));
  }

  #current(): State {
    if (this.#state.offset !== this.offset) throw new Error("a view of the store was used after its read had ended");
    return this.#state;
  }
}

/** Contracts or keys between two pauses: some milliseconds. */
const STEP = 2_000;

/** The contracts at one offset with their indexes. Updates change it in place. */
class State {
  offset: number;
  asOf: number | undefined;
  readonly aggregates = new Aggregates();
  readonly #contracts = new Map<string, StoredContract>();
  /** Each list is newest first, and replaced instead of changed: a reader may hold one. */
  readonly #byKey = new Map<string, readonly StoredContract[]>();
  readonly #byTemplate = new Map<Template, Map<string, StoredContract>>();
  /** The latest archivals, oldest first, each with the registrar of the contract if it was stored and has one. */
  readonly #archived = new Map<string, string | undefined>();

  constructor(
    readonly generation: string,
    offset: number,
    asOf: number | undefined,
  ) {
    this.offset = offset;
    this.asOf = asOf;
  }

  /** Adds the first contracts, with pauses for others. Throws an Error if a contract id appears twice. */
  async fill(contracts: Contracts): Promise<void> {
    const lists = new Map<string, StoredContract[]>();
    let count = 0;
    for await (const contract of contracts) {
      if (++count % STEP === 0) await setImmediate();
      const { contractId } = contract;
      if (this.#contracts.has(contractId) || this.aggregates.countedOnly(contractId) !== undefined) {
        throw new Error(`contract ${contractId} appears twice`);
      }
      this.aggregates.add(contract);
      if (!isStored(contract)) continue;
      this.#store(contract);
      for (const key of contract.indexKeys) {
        const list = lists.get(key);
        if (list === undefined) lists.set(key, [contract]);
        else list.push(contract);
      }
    }
    for (const [key, list] of lists) {
      if (++count % STEP === 0) await setImmediate();
      this.#byKey.set(key, list.toSorted(newestFirst));
    }
  }

  byId(contractId: string): StoredContract | undefined {
    return this.#contracts.get(contractId);
  }

  byKey(key: string): readonly StoredContract[] {
    return this.#byKey.get(key) ?? [];
  }

  ofTemplate(template: Template): ReadonlyMap<string, StoredContract> {
    return this.#byTemplate.get(template) ?? new Map();
  }

  wasArchived(contractId: string, registrar?: string): boolean {
    if (registrar !== undefined) return this.#archived.get(contractId) === registrar;
    return this.#archived.has(contractId);
  }

  /** Returns the tags of what has changed. Synchronous, so no reader runs between two changes. */
  apply(changes: readonly Change[], offset: number, asOf: number | undefined): ReadonlySet<Tag> {
    const tags = new Set<Tag>();
    for (const change of changes) this.#apply(change, tags);
    this.offset = offset;
    this.asOf = asOf ?? this.asOf;
    return tags;
  }

  #apply(change: Change, tags: Set<Tag>): void {
    if ("archived" in change) {
      tags.add(tagOf(idHash(change.archived)));
      const stored = this.#contracts.get(change.archived);
      addTags(stored, tags);
      const counted = this.aggregates.countedOnly(change.archived);
      if (counted !== undefined) tags.add(tagOf(sumHash(counted.sum))).add(tagOf(anyRegistrarHash));
      this.#remove(stored);
      this.aggregates.removeCountedOnly(change.archived);
      this.#addArchived(change.archived, stored?.template.registrarOf?.(stored.fields));
    } else if ("unassigned" in change) {
      const { reassignmentCounter } = change;
      const stored = this.#contracts.get(change.unassigned);
      // With an equal counter the assignment was applied first, and this event is older.
      if (stored === undefined || reassignmentCounter <= stored.reassignmentCounter) return;
      addTags(stored, tags);
      const body = { ...stored.body, encodings: undefined };
      this.#upsert({ ...stored, body, synchronizerId: undefined, reassignmentCounter });
    } else if (isStored(change.active)) {
      const stored = this.#contracts.get(change.active.contractId);
      if (stored !== undefined && change.active.reassignmentCounter < stored.reassignmentCounter) return;
      addTags(change.active, tags);
      this.#upsert(change.active);
    } else if (this.aggregates.countedOnly(change.active.contractId) === undefined) {
      // A reassigned contract counts once.
      addTags(change.active, tags);
      this.aggregates.add(change.active);
    }
  }

  #upsert(contract: StoredContract): void {
    this.#remove(this.#contracts.get(contract.contractId));
    this.aggregates.add(contract);
    this.#store(contract);
    for (const key of contract.indexKeys) {
      const list = this.byKey(key);
      const index = list.findIndex((other) => newestFirst(contract, other) < 0);
      this.#byKey.set(key, list.toSpliced(index === -1 ? list.length : index, 0, contract));
    }
  }

  #store(contract: StoredContract): void {
    this.#contracts.set(contract.contractId, contract);
    const ofTemplate = this.#byTemplate.get(contract.template);
    if (ofTemplate === undefined) this.#byTemplate.set(contract.template, new Map([[contract.contractId, contract]]));
    else ofTemplate.set(contract.contractId, contract);
  }

  #remove(stored: StoredContract | undefined): void {
    if (stored === undefined) return;
    this.#contracts.delete(stored.contractId);
    this.aggregates.remove(stored);
    this.#byTemplate.get(stored.template)?.delete(stored.contractId);
    for (const key of stored.indexKeys) {
      const list = this.byKey(key).filter((contract) => contract !== stored);
      if (list.length === 0) this.#byKey.delete(key);
      else this.#byKey.set(key, list);
    }
  }

  #addArchived(contractId: string, registrar: string | undefined): void {
    this.#archived.set(contractId, registrar);
    const [oldest] = this.#archived.keys();
    if (this.#archived.size > MAX_ARCHIVED_IDS && oldest !== undefined) this.#archived.delete(oldest);
  }
}

function addTags(contract: StoredContract | CountedOnly | undefined, tags: Set<Tag>): void {
  if (contract === undefined) return;
  for (const hash of touchedLookups(contract)) tags.add(tagOf(hash));
}

/** Counts and sums over the contracts of a state. */
class Aggregates {
  readonly #templateCounts = new Map<string, TemplateCount>();
  readonly #sums = new Map<string, bigint>();
  readonly #countedOnly = new Map<string, SupplyContribution>();

  templateCounts(): readonly TemplateCount[] {
    return [...this.#templateCounts.values()];
  }

  sum(name: string): bigint {
    return this.#sums.get(name) ?? 0n;
  }

  /** Undefined if no contract with this id is only counted. */
  countedOnly(contractId: string): SupplyContribution | undefined {
    return this.#countedOnly.get(contractId);
  }

  /** The contract must not have been added before. */
  add(contract: StoredContract | CountedOnly): void {
    if (isStored(contract)) this.#count(contract, 1);
    else this.#countedOnly.set(contract.contractId, contract.supply);
    if (contract.supply !== undefined) this.#addToSum(contract.supply.sum, contract.supply.amount);
  }

  remove(contract: StoredContract): void {
    this.#count(contract, -1);
    if (contract.supply !== undefined) this.#addToSum(contract.supply.sum, -contract.supply.amount);
  }

  /** Removes a contract that was only counted. Any other id has no effect. */
  removeCountedOnly(contractId: string): void {
    const supply = this.#countedOnly.get(contractId);
    if (supply === undefined) return;
    this.#countedOnly.delete(contractId);
    this.#addToSum(supply.sum, -supply.amount);
  }

  #addToSum(name: string, amount: bigint): void {
    const sum = this.sum(name) + amount;
    if (sum === 0n) this.#sums.delete(name);
    else this.#sums.set(name, sum);
  }

  #count({ template, templateId }: StoredContract, delta: 1 | -1): void {
    const packageId = packageIdOf(templateId);
    const name = `${packageId} ${template.packageName} ${template.qualifiedName}`;
    const count = (this.#templateCounts.get(name)?.count ?? 0) + delta;
    if (count === 0) this.#templateCounts.delete(name);
    else this.#templateCounts.set(name, { template, packageId, count });
  }
}
