/** The contracts at one offset, as rules see them: by id, index key and template, with counts and sums. */
import { setImmediate } from "node:timers/promises";
import {
  bodyOf,
  type Change,
  type Contract,
  type CountedOnly,
  isStored,
  newestFirst,
  type StoredContract,
} from "../domain/contract.js";
import { isOf, partsOf, type Template } from "../domain/template.js";
import { Aggregates } from "./aggregates.js";
import type { LoggedState, LogStep } from "./log.js";
import {
  anyRegistrarHash,
  idHash,
  type LookupHash,
  registrarHash,
  registrarHashOf,
  type Tag,
  tagOf,
  tallyHash,
  touchedBy,
  touchedLookups,
} from "./lookup-hash.js";
import { type Contracts, MAX_ARCHIVED_IDS, NotReady, type StoreReader, type TemplateCount, type View } from "./port.js";

/** Contracts or keys between two pauses: some milliseconds. */
const STEP = 2_000;

/** The contracts at one offset with their indexes. Updates change it in place. */
export class State {
  offset: number;
  asOf: number | undefined;
  readonly aggregates = new Aggregates();
  readonly #contracts = new Map<string, Contract>();
  /** Each list is newest first, and replaced instead of changed: a reader may hold one. */
  readonly #byKey = new Map<string, readonly Contract[]>();
  readonly #byTemplate = new Map<Template, Map<string, Contract>>();
  /** The latest archivals, oldest first, each with the hash of the contract's registrar if it was stored. */
  readonly #archived = new Map<string, LookupHash | undefined>();

  constructor(
    readonly generation: string,
    offset: number,
    asOf: number | undefined,
  ) {
    this.offset = offset;
    this.asOf = asOf;
  }

  /** Adds the first contracts, with pauses for others. Throws an Error if a contract id appears twice. */
  async fill(contracts: Contracts | AsyncIterable<Contract>): Promise<void> {
    const lists = new Map<string, Contract[]>();
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

  get size(): number {
    return this.#contracts.size;
  }

  byId(contractId: string): Contract | undefined {
    return this.#contracts.get(contractId);
  }

  byKey(key: string): readonly Contract[] {
    return this.#byKey.get(key) ?? [];
  }

  ofTemplate(template: Template): ReadonlyMap<string, Contract> {
    return this.#byTemplate.get(template) ?? new Map();
  }

  wasArchived(contractId: string, registrar?: string): boolean {
    if (registrar === undefined) return this.#archived.has(contractId);
    return this.#archived.get(contractId) === registrarHash(registrar);
  }

  /** Adds what a log has besides the contracts, with pauses for others. */
  async complete(archived: LoggedState["archived"], sums: LoggedState["sums"]): Promise<void> {
    let count = 0;
    for await (const { contractId, registrar } of archived) {
      if (++count % STEP === 0) await setImmediate();
      this.#addArchived(contractId, registrar);
    }
    for await (const sum of sums) this.aggregates.set(sum);
  }

  /** As `apply`, for a state that was filled from a log. */
  step({ archived, active, sums }: LogStep, offset: number, asOf: number | undefined): ReadonlySet<Tag> {
    const tags = new Set<Tag>();
    for (const tombstone of archived) {
      for (const tag of tombstone.tags) tags.add(tag);
      this.#remove(this.#contracts.get(tombstone.contractId));
      this.#addArchived(tombstone.contractId, tombstone.registrar);
    }
    for (const contract of active) {
      addTags(contract, tags);
      this.#upsert(contract);
    }
    for (const sum of sums) {
      tags.add(tagOf(sum.sum)).add(tagOf(anyRegistrarHash));
      if (sum.tally !== undefined) tags.add(tagOf(tallyHash(sum.tally.group)));
      this.aggregates.set(sum);
    }
    this.offset = offset;
    this.asOf = asOf;
    return tags;
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
      if (counted !== undefined) for (const hash of [...touchedBy(counted), anyRegistrarHash]) tags.add(tagOf(hash));
      this.#remove(stored);
      this.aggregates.removeCountedOnly(change.archived);
      this.#addArchived(change.archived, stored && registrarHashOf(stored));
    } else if ("unassigned" in change) {
      const { reassignmentCounter } = change;
      const stored = this.#contracts.get(change.unassigned);
      // With an equal counter the assignment was applied first, and this event is older.
      if (stored === undefined || reassignmentCounter <= stored.reassignmentCounter) return;
      addTags(stored, tags);
      // Everything that this applies to has a body: encodings have the synchronizer.
      const body = { ...bodyOf(stored), encodings: undefined };
      const unassigned: StoredContract = { ...stored, body, synchronizerId: undefined, reassignmentCounter };
      this.#upsert(unassigned);
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

  #upsert(contract: Contract): void {
    this.#remove(this.#contracts.get(contract.contractId));
    this.aggregates.add(contract);
    this.#store(contract);
    for (const key of contract.indexKeys) {
      const list = this.byKey(key);
      const index = list.findIndex((other) => newestFirst(contract, other) < 0);
      this.#byKey.set(key, list.toSpliced(index === -1 ? list.length : index, 0, contract));
    }
  }

  #store(contract: Contract): void {
    this.#contracts.set(contract.contractId, contract);
    for (const template of partsOf(contract.template)) {
      const ofTemplate = this.#byTemplate.get(template);
      if (ofTemplate === undefined) this.#byTemplate.set(template, new Map([[contract.contractId, contract]]));
      else ofTemplate.set(contract.contractId, contract);
    }
  }

  #remove(stored: Contract | undefined): void {
    if (stored === undefined) return;
    this.#contracts.delete(stored.contractId);
    this.aggregates.remove(stored);
    for (const template of partsOf(stored.template)) this.#byTemplate.get(template)?.delete(stored.contractId);
    for (const key of stored.indexKeys) {
      const list = this.byKey(key).filter((contract) => contract !== stored);
      if (list.length === 0) this.#byKey.delete(key);
      else this.#byKey.set(key, list);
    }
  }

  /** A contract may be archived twice, if a late event has made it active in between. The latest counts. */
  #addArchived(contractId: string, registrar: LookupHash | undefined): void {
    const known = registrar ?? this.#archived.get(contractId);
    this.#archived.delete(contractId);
    this.#archived.set(contractId, known);
    const [oldest] = this.#archived.keys();
    if (this.#archived.size > MAX_ARCHIVED_IDS && oldest !== undefined) this.#archived.delete(oldest);
  }
}

function addTags(contract: Contract | CountedOnly | undefined, tags: Set<Tag>): void {
  if (contract === undefined) return;
  for (const hash of touchedLookups(contract)) tags.add(tagOf(hash));
}

/** Reads a state in memory, which who extends this replaces and moves. */
export class StateReader implements StoreReader {
  /** Undefined before the first. */
  protected state: State | undefined;

  read<T>(use: (view: View) => T): T {
    return use(new StateView(this.ready()));
  }

  ids(template: Template): readonly string[] {
    return [...this.ready().ofTemplate(template).keys()];
  }

  /** Of the contracts. Throws NotReady without a state. */
  packageIds(): readonly string[] {
    return [...new Set(this.read((view) => view.templateCounts().map(({ packageId }) => packageId)))];
  }

  protected ready(): State {
    if (this.state === undefined) throw new NotReady();
    return this.state;
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

  byId<F>(template: Template<F>, contractId: string): Contract<F> | undefined {
    const contract = this.#current().byId(contractId);
    // The fields of a contract are those of its template.
    return contract !== undefined && isOf(contract.template, template) ? (contract as Contract<F>) : undefined;
  }

  byKey<F>(template: Template<F>, key: string): readonly Contract<F>[] {
    const contracts = this.#current().byKey(key);
    // Two templates rarely share a key: return the list itself where possible.
    const isShared = contracts.some((contract) => !isOf(contract.template, template));
    return (isShared ? contracts.filter((one) => isOf(one.template, template)) : contracts) as readonly Contract<F>[];
  }

  all<F>(template: Template<F>): readonly Contract<F>[] {
    return [...this.#current().ofTemplate(template).values()].toSorted(newestFirst) as Contract<F>[];
  }

  wasArchived(contractId: string, registrar?: string): boolean {
    return this.#current().wasArchived(contractId, registrar);
  }

  templateCounts(): readonly TemplateCount[] {
    return this.#current().aggregates.templateCounts();
  }

  tallied(group: string): readonly string[] {
    return this.#current().aggregates.tallied(group);
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
