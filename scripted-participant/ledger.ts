/** A ledger in memory that does what a test tells it. */
import { createHash } from "node:crypto";
import type { Change, Contract, Entry, Reassignment } from "./entries.js";
import { type Creation, type Exercising, flattened, type Node, type Step, transient, witnessesOf } from "./steps.js";
import { Log } from "./log.js";
import { type Truth, Truths } from "./truth.js";

export type { Creation, Exercise, Step } from "./steps.js";

export interface LedgerOptions {
  /** Where transactions happen that say nothing else; "sync-A::1220" where not said. */
  readonly synchronizerId?: string;
  /** The time of an update; where not said, a second later with each offset from the 5th of January 2026 on. */
  readonly clock?: (offset: number) => Date;
}

export interface UpdateOptions {
  /** Has to be above the ledger end; one above it where not said. */
  readonly offset?: number;
  /** Where it happens; where not said, a transaction happens where the first contract that it uses is. */
  readonly synchronizerId?: string;
}

/**
 * Every operation but prune and restore appends one update, and returns its
 * offset. What a ledger could not do, such as archiving what is not there,
 * throws and changes nothing.
 */
export class ScriptedLedger {
  readonly synchronizerId: string;
  /** For those who serve the ledger; a test has no need of it. */
  readonly log = new Log();
  readonly #clock: (offset: number) => Date;
  #truths = new Truths();
  #restores = 0;

  constructor({ synchronizerId = "sync-A::1220", clock = secondByOffset }: LedgerOptions = {}) {
    this.synchronizerId = synchronizerId;
    this.#clock = clock;
  }

  /** The offset of the last update; 0 where there is none. */
  get end(): number {
    return this.log.end;
  }

  /** Updates up to and including this offset can no longer be asked for; 0 where all can. */
  get pruned(): number {
    return this.log.pruned;
  }

  /** What is true at the ledger end, by contract id. The map changes with the ledger. */
  get truth(): ReadonlyMap<string, Truth> {
    return this.#truths.contracts;
  }

  /**
   * One transaction. What it both creates and archives is told to those alone
   * who ask for its effects, or for the events of that very contract.
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
      if ("create" in node) return { did: "create", contract, nodeId, seenBy, isTransient: false };
      const { consuming, exercised } = node;
      return { did: consuming ? "archive" : "exercise", exercised, contract, nodeId, seenBy, isTransient: false };
    });
    return this.#append("transaction", offset, synchronizerId, transient(changes));
  }

  /** Takes contracts, in one update, off the synchronizer on which they all are. */
  unassign(contractIds: string | readonly string[], target: string, options: UpdateOptions = {}): number {
    const contracts = listed(contractIds).map((id) => this.#active(id));
    const source = contracts[0]?.synchronizerId ?? "none";
    const changes = contracts.map((contract, nodeId): Change => {
      const reassignment = reassign(this.#activeOn(source, contract.contractId), target);
      return { did: "unassign", contract, nodeId, reassignment };
    });
    return this.#append("reassignment", this.#next(options), source, changes);
  }

  /** Puts contracts, in one update, on the synchronizer for which they all have left. */
  assign(contractIds: string | readonly string[], options: UpdateOptions = {}): number {
    const changes = listed(contractIds).map((id, nodeId) => this.#halfDone(id, "leaving", nodeId));
    const targets = new Set(changes.map(({ reassignment }) => reassignment.target));
    const [target = "none"] = targets;
    if (targets.size > 1) throw new Error("contracts that are assigned together have to have one target");
    return this.#append("reassignment", this.#next(options), target, changes);
  }

  /**
   * Assigns a contract before it is seen leaving, as happens to a participant
   * that hears from two synchronizers. `unassignLate` has to follow before
   * anything else is done to the contract.
   */
  assignEarly(contractId: string, target: string, options: UpdateOptions = {}): number {
    const contract = this.#active(contractId);
    const change: Change = { did: "assign", contract, nodeId: 0, reassignment: reassign(contract, target) };
    return this.#append("reassignment", this.#next(options), target, [change]);
  }

  /** The contract is seen leaving that `assignEarly` has put on another synchronizer. */
  unassignLate(contractId: string, options: UpdateOptions = {}): number {
    const change = this.#halfDone(contractId, "arriving", 0);
    return this.#append("reassignment", this.#next(options), change.reassignment.source, [change]);
  }

  /** Assigns a contract from a synchronizer on which the participant is not: it is seen here for the first time. */
  enter(creation: Creation, source: string, target: string, counter = 1, options: UpdateOptions = {}): number {
    const offset = this.#next(options);
    const contract = this.#contract(creation, offset);
    const id = hash(`reassignment ${contract.contractId} ${counter}`);
    const reassignment = { id, source, target, counter, fromAfar: true };
    return this.#append("reassignment", offset, target, [{ did: "assign", contract, nodeId: 0, reassignment }]);
  }

  /** Moves the ledger end, and tells every stream. */
  checkpoint(options: UpdateOptions = {}): number {
    return this.#append("checkpoint", this.#next(options), options.synchronizerId ?? this.synchronizerId, []);
  }

  /** A transaction that none who asks may see: it moves the ledger end, and tells no stream. */
  elsewhere(options: UpdateOptions = {}): number {
    return this.transact([], options);
  }

  /** A party becomes hosted here. Streams that ask for topology events are told. */
  topology(party: string, options: UpdateOptions = {}): number {
    return this.#append("topology", this.#next(options), options.synchronizerId ?? this.synchronizerId, [], party);
  }

  /** Forgets the updates up to and including an offset; what is active stays. */
  prune(upTo: number): void {
    this.log.prune(upTo);
  }

  /**
   * Goes back to the offset of an update, or to 0, as a participant that is
   * restored from a backup: what came later is forgotten, and the same offsets
   * are given to others. Open streams are cut, as by the restart that this is.
   */
  restore(to: number): void {
    this.log.restore(to);
    this.#restores++;
    this.#truths = new Truths();
    for (const entry of this.log.between(0)) this.#truths.apply(entry);
  }

  #next({ offset = this.end + 1 }: UpdateOptions): number {
    if (offset <= this.end) throw new Error(`offset ${offset} is not above the ledger end ${this.end}`);
    return offset;
  }

  #append(form: Entry["form"], offset: number, synchronizerId: string, changes: readonly Change[], party?: string) {
    const updateId = `1220${hash(`update ${this.#restores} ${offset}`)}`;
    const entry = { form, offset, updateId, time: this.#time(offset), synchronizerId, changes, party };
    this.#truths.apply(entry);
    this.log.append(entry);
    return offset;
  }

  #placeOf(nodes: readonly Node[]): string | undefined {
    const used = nodes.flatMap((node) => ("contractId" in node ? [this.truth.get(node.contractId)] : []));
    return used.find((contract) => contract !== undefined)?.synchronizerId;
  }

  #created(creation: Creation, offset: number, created: Map<string, Contract>): Contract {
    const contract = this.#contract(creation, offset);
    if (created.has(contract.contractId)) throw new Error(`contract ${contract.contractId} is created twice`);
    created.set(contract.contractId, contract);
    return contract;
  }

  /** A contract on which a choice is exercised: one of the same transaction, or one that is active. */
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
    if (this.truth.has(creation.contractId)) throw new Error(`contract ${creation.contractId} is there already`);
    return { ...creation, observers: creation.observers ?? [], createdAt: creation.createdAt ?? this.#time(offset) };
  }

  #active(contractId: string): Truth & { readonly synchronizerId: string } {
    const known = this.truth.get(contractId);
    if (known?.synchronizerId === undefined) throw new Error(`contract ${contractId} is not active`);
    if (this.#truths.half(contractId) !== undefined) throw new Error(`contract ${contractId} has to be seen leaving`);
    return { ...known, synchronizerId: known.synchronizerId };
  }

  #activeOn(synchronizerId: string, contractId: string): Truth {
    const contract = this.#active(contractId);
    if (contract.synchronizerId === synchronizerId) return contract;
    throw new Error(`contract ${contractId} is not on ${synchronizerId} but on ${contract.synchronizerId}`);
  }

  /** The other half of a reassignment of which one has been seen. */
  #halfDone(contractId: string, seen: "leaving" | "arriving", nodeId: number) {
    const contract = this.truth.get(contractId);
    const half = this.#truths.half(contractId);
    if (contract === undefined || half?.seen !== seen) throw new Error(`contract ${contractId} is not ${seen}`);
    const did: "assign" | "unassign" = seen === "leaving" ? "assign" : "unassign";
    return { did, contract, nodeId, reassignment: half.reassignment };
  }

  #time(offset: number): string {
    return this.#clock(offset).toISOString().replace("Z", "417Z");
  }
}

const secondByOffset = (offset: number): Date => new Date(Date.UTC(2026, 0, 5, 9) + offset * 1000);

function listed(ids: string | readonly string[]): readonly string[] {
  const list = typeof ids === "string" ? [ids] : ids;
  if (list.length === 0 || new Set(list).size !== list.length) throw new Error("contracts have to be named, each once");
  return list;
}

function reassign(contract: Truth, target: string): Reassignment {
  const { contractId, synchronizerId: source = "none" } = contract;
  if (source === target) throw new Error(`contract ${contractId} is on ${target} already`);
  const counter = contract.reassignmentCounter + 1;
  return { id: hash(`reassignment ${contractId} ${counter}`), source, target, counter, fromAfar: false };
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
