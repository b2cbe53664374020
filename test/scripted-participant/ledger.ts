/** A ledger in memory, scripted by a test. */
import { createHash } from "node:crypto";
import type { JsonValue } from "../../src/util/json.js";
import {
  type Change,
  type Contract,
  type ContractState,
  ContractStates,
  type Entry,
  type Exercised,
  type Reassignment,
  UpdateLog,
} from "./log.js";

/** A contract to create. Absent fields get defaults. */
export type Creation = Omit<Contract, "observers" | "createdAt"> & Partial<Pick<Contract, "observers" | "createdAt">>;

/** A choice to exercise. Absent fields are empty. */
export interface Exercise {
  readonly contractId: string;
  readonly choice: string;
  readonly argument?: JsonValue;
  readonly result?: JsonValue;
  /** Whether it archives the contract. Default false. */
  readonly consuming?: boolean;
  readonly actors?: readonly string[];
  /** Its consequences. Witnesses of the choice see them too. */
  readonly steps?: readonly Step[];
}

/** Archiving exercises the consuming choice Archive. */
export type Step = { readonly create: Creation } | { readonly archive: string } | { readonly exercise: Exercise };

interface Creating {
  readonly create: Creation;
  readonly parent: number | undefined;
}

interface Exercising {
  readonly contractId: string;
  readonly consuming: boolean;
  readonly exercised: Exercised;
  readonly parent: number | undefined;
}

/** A node of a transaction. Its index is its node id; `parent` is the choice that caused it. */
type Node = Creating | Exercising;

/** The steps as nodes, each choice before its consequences. */
function flattened(steps: readonly Step[], first = 0, parent?: number): Node[] {
  const nodes: Node[] = [];
  for (const step of steps) {
    const nodeId = first + nodes.length;
    if ("create" in step) {
      nodes.push({ create: step.create, parent });
      continue;
    }
    const exercise: Exercise =
      "archive" in step ? { contractId: step.archive, choice: "Archive", consuming: true } : step.exercise;
    const { contractId, choice, argument = {}, result = {}, consuming = false, actors = [] } = exercise;
    const inner = flattened(exercise.steps ?? [], nodeId + 1, nodeId);
    const exercised = { choice, argument, result, actors, lastNodeId: nodeId + inner.length };
    nodes.push({ contractId, consuming, exercised, parent }, ...inner);
  }
  return nodes;
}

/** The witnesses of a node. Observers do not see non-consuming choices. */
function witnessesOf(node: Node, { signatories, observers }: Contract, above: readonly string[]): string[] {
  const isQuiet = "consuming" in node && !node.consuming;
  const actors = "exercised" in node ? node.exercised.actors : [];
  return [...new Set([...signatories, ...(isQuiet ? [] : observers), ...actors, ...above])];
}

/** Marks changes of contracts that are created and archived in the same transaction. */
function transient(changes: readonly Change[]): Change[] {
  const ids = (type: Change["type"]) =>
    new Set(changes.filter((change) => change.type === type).map(({ contract }) => contract.contractId));
  const [created, archived] = [ids("create"), ids("archive")];
  return changes.map((change) => {
    const { contractId } = change.contract;
    const isTransient = created.has(contractId) && archived.has(contractId);
    return "isTransient" in change ? { ...change, isTransient } : change;
  });
}

interface LedgerOptions {
  /** The default synchronizer of transactions. Default "sync-A::1220". */
  readonly synchronizerId?: string;
  /** How many offsets a transaction takes. It is delivered at the first. Default 3, as on a real participant. */
  readonly offsetsPerTransaction?: number;
  /** The record time of an update. Default: 5 January 2026 plus one second per offset. */
  readonly clock?: (offset: number) => Date;
}

interface UpdateOptions {
  /** Must be above the ledger end. Default: one above it. */
  readonly offset?: number;
  /** Default: the synchronizer of the first contract that the transaction uses. */
  readonly synchronizerId?: string;
}

/**
 * Every operation except prune, restore and clear appends one update and returns its offset. The end is higher after a
 * transaction. An invalid operation, such as archiving an unknown contract, throws and changes nothing.
 */
export class ScriptedLedger {
  readonly synchronizerId: string;
  readonly log = new UpdateLog();
  readonly #clock: (offset: number) => Date;
  readonly #offsetsPerTransaction: number;
  #states = new ContractStates();
  #restores = 0;

  constructor({
    synchronizerId = "sync-A::1220",
    offsetsPerTransaction = 3,
    clock = secondByOffset,
  }: LedgerOptions = {}) {
    this.#offsetsPerTransaction = offsetsPerTransaction;
    this.synchronizerId = synchronizerId;
    this.#clock = clock;
  }

  /** The last offset taken; 0 before the first update. */
  get end(): number {
    return this.log.end;
  }

  /** The offset at which the last update is delivered; 0 before the first. */
  get lastUpdate(): number {
    return this.log.last?.offset ?? 0;
  }

  /** Updates up to and including this offset are pruned; 0 if none are. */
  get pruned(): number {
    return this.log.pruned;
  }

  /** The contracts at the ledger end, by id. A live map. */
  get contracts(): ReadonlyMap<string, ContractState> {
    return this.#states.contracts;
  }

  /**
   * Appends one transaction. A contract that it creates and archives shows only in its ledger effects, and in lookups
   * by contract id.
   */
  transact(steps: readonly Step[], options: UpdateOptions = {}): number {
    const offset = this.#next(options);
    const nodes = flattened(steps);
    const synchronizerId = options.synchronizerId ?? this.#placeOf(nodes) ?? this.synchronizerId;
    const created = new Map<string, Contract>();
    const archived = new Set<string>();
    const seen: (readonly string[])[] = [];
    const changes = nodes.map((node, nodeId): Change => {
      const contract =
        "create" in node
          ? this.#created(node.create, offset, created)
          : this.#used(node, synchronizerId, created, archived);
      const seenBy = witnessesOf(node, contract, seen[node.parent ?? -1] ?? []);
      seen.push(seenBy);
      if ("create" in node) return { type: "create", contract, nodeId, seenBy, isTransient: false };
      const { consuming, exercised } = node;
      return { type: consuming ? "archive" : "exercise", exercised, contract, nodeId, seenBy, isTransient: false };
    });
    return this.#append("transaction", offset, synchronizerId, transient(changes));
  }

  /** Unassigns contracts in one update. All must be on the same synchronizer. */
  unassign(contractIds: string | readonly string[], target: string, options: UpdateOptions = {}): number {
    const contracts = listed(contractIds).map((id) => this.#active(id));
    const source = contracts[0]?.synchronizerId ?? "none";
    const changes = contracts.map((contract, nodeId): Change => {
      const reassignment = reassign(this.#activeOn(source, contract.contractId), target);
      return { type: "unassign", contract, nodeId, reassignment };
    });
    return this.#append("reassignment", this.#next(options), source, changes);
  }

  /** Assigns unassigned contracts in one update. All must have the same target. */
  assign(contractIds: string | readonly string[], options: UpdateOptions = {}): number {
    const changes = listed(contractIds).map((id, nodeId) => this.#halfDone(id, "leaving", nodeId));
    const targets = new Set(changes.map(({ reassignment }) => reassignment.target));
    const [target = "none"] = targets;
    if (targets.size > 1) throw new Error("contracts that are assigned together must have one target");
    return this.#append("reassignment", this.#next(options), target, changes);
  }

  /**
   * Assigns a contract before its unassignment is seen, as can happen on a participant with two synchronizers.
   * `unassignLate` must follow before any other change of the contract.
   */
  assignEarly(contractId: string, target: string, options: UpdateOptions = {}): number {
    const contract = this.#active(contractId);
    const change: Change = { type: "assign", contract, nodeId: 0, reassignment: reassign(contract, target) };
    return this.#append("reassignment", this.#next(options), target, [change]);
  }

  unassignLate(contractId: string, options: UpdateOptions = {}): number {
    const change = this.#halfDone(contractId, "arriving", 0);
    return this.#append("reassignment", this.#next(options), change.reassignment.source, [change]);
  }

  /** Assigns a contract from a synchronizer that the participant is not connected to. It is new to the participant. */
  enter(creation: Creation, source: string, target: string, counter = 1, options: UpdateOptions = {}): number {
    const offset = this.#next(options);
    const contract = this.#contract(creation, offset);
    const id = hash(`reassignment ${contract.contractId} ${counter}`);
    const reassignment = { id, source, target, counter, fromAfar: true };
    return this.#append("reassignment", offset, target, [{ type: "assign", contract, nodeId: 0, reassignment }]);
  }

  /** Moves the ledger end, and sends an OffsetCheckpoint on every stream. */
  checkpoint(options: UpdateOptions = {}): number {
    return this.#append("checkpoint", this.#next(options), options.synchronizerId ?? this.synchronizerId, []);
  }

  /** A transaction of parties that no filter names: it moves the ledger end, and no stream shows it. */
  elsewhere(options: UpdateOptions = {}): number {
    return this.transact([], options);
  }

  /** Adds a hosted party: it moves the ledger end, and no stream shows it. */
  topology(_party: string, options: UpdateOptions = {}): number {
    return this.#append("topology", this.#next(options), options.synchronizerId ?? this.synchronizerId, []);
  }

  prune(upTo: number): void {
    this.log.prune(upTo);
  }

  /**
   * Goes back to the offset of an update, or to 0, like a participant restored from a backup. Later updates are removed
   * and their offsets are used again. Open streams are cut.
   */
  restore(to: number): void {
    this.log.restore(to);
    this.#restores++;
    this.#states = new ContractStates();
    for (const entry of this.log.between(0)) this.#states.apply(entry);
  }

  /**
   * Loses everything, like a participant that comes back with an empty store: the end is 0, nothing is pruned, and what
   * follows is another history. Open streams are cut.
   */
  clear(): void {
    this.log.clear();
    this.#restores++;
    this.#states = new ContractStates();
  }

  #next({ offset = this.end + 1 }: UpdateOptions): number {
    if (offset <= this.end) throw new Error(`offset ${offset} is not above the ledger end ${this.end}`);
    return offset;
  }

  #append(form: Entry["form"], offset: number, synchronizerId: string, changes: readonly Change[]) {
    const updateId = `1220${hash(`update ${this.#restores} ${offset}`)}`;
    const lastOffset = form === "transaction" ? offset + this.#offsetsPerTransaction - 1 : offset;
    const entry = { form, offset, lastOffset, updateId, time: this.#time(offset), synchronizerId, changes };
    this.#states.apply(entry);
    this.log.append(entry);
    return offset;
  }

  #placeOf(nodes: readonly Node[]): string | undefined {
    const used = nodes.flatMap((node) => ("contractId" in node ? [this.contracts.get(node.contractId)] : []));
    return used.find((contract) => contract !== undefined)?.synchronizerId;
  }

  #created(creation: Creation, offset: number, created: Map<string, Contract>): Contract {
    const contract = this.#contract(creation, offset);
    if (created.has(contract.contractId)) throw new Error(`contract ${contract.contractId} is created twice`);
    created.set(contract.contractId, contract);
    return contract;
  }

  /** The contract of an exercise: created in the same transaction, or active. */
  #used(
    { contractId, consuming }: Exercising,
    synchronizerId: string,
    created: ReadonlyMap<string, Contract>,
    archived: Set<string>,
  ): Contract {
    if (archived.has(contractId)) {
      throw new Error(`contract ${contractId} is ${consuming ? "archived twice" : "used when it is archived"}`);
    }
    if (consuming) archived.add(contractId);
    return created.get(contractId) ?? this.#activeOn(synchronizerId, contractId);
  }

  #contract(creation: Creation, offset: number): Contract {
    if (this.contracts.has(creation.contractId)) throw new Error(`contract ${creation.contractId} already exists`);
    return { ...creation, observers: creation.observers ?? [], createdAt: creation.createdAt ?? this.#time(offset) };
  }

  #active(contractId: string): ContractState & { readonly synchronizerId: string } {
    const known = this.contracts.get(contractId);
    if (known?.synchronizerId === undefined) throw new Error(`contract ${contractId} is not active`);
    if (this.#states.half(contractId) !== undefined) throw new Error(`contract ${contractId} must be seen leaving`);
    return { ...known, synchronizerId: known.synchronizerId };
  }

  #activeOn(synchronizerId: string, contractId: string): ContractState {
    const contract = this.#active(contractId);
    if (contract.synchronizerId === synchronizerId) return contract;
    throw new Error(`contract ${contractId} is not on ${synchronizerId} but on ${contract.synchronizerId}`);
  }

  #halfDone(contractId: string, seen: "leaving" | "arriving", nodeId: number) {
    const contract = this.contracts.get(contractId);
    const half = this.#states.half(contractId);
    if (contract === undefined || half?.seen !== seen) throw new Error(`contract ${contractId} is not ${seen}`);
    const type: "assign" | "unassign" = seen === "leaving" ? "assign" : "unassign";
    return { type, contract, nodeId, reassignment: half.reassignment };
  }

  #time(offset: number): string {
    return this.#clock(offset).toISOString().replace("Z", "417Z");
  }
}

const secondByOffset = (offset: number): Date => new Date(Date.UTC(2026, 0, 5, 9) + offset * 1000);

function listed(ids: string | readonly string[]): readonly string[] {
  const list = typeof ids === "string" ? [ids] : ids;
  if (list.length === 0 || new Set(list).size !== list.length) throw new Error("contracts must be named, each once");
  return list;
}

function reassign(contract: ContractState, target: string): Reassignment {
  const { contractId, synchronizerId: source = "none" } = contract;
  if (source === target) throw new Error(`contract ${contractId} is on ${target} already`);
  const counter = contract.reassignmentCounter + 1;
  return { id: hash(`reassignment ${contractId} ${counter}`), source, target, counter, fromAfar: false };
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
