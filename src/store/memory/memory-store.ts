import { randomBytes } from "node:crypto";
import { type Change, type Contract, type CountedOnly, newestFirst } from "../../domain/contract.js";
import type { Template } from "../../domain/template.js";
import {
  type ChangeFeed,
  type Checkpoint,
  type TemplateCount,
  NotReady,
  type StoreReader,
  type StoreScan,
  type StoreWriter,
  type View,
} from "../port.js";
import { ChangeLog } from "../change-log.js";
import { MemoryState } from "./memory-state.js";

/** A store in the memory of this process. Not ready until the first `replace`. */
export class MemoryStore implements StoreReader, StoreWriter {
  readonly #changes = new ChangeLog();
  readonly #newGeneration: () => string;
  #state: MemoryState | undefined;
  #checkpoint: Checkpoint | undefined;

  /** `newGeneration` returns a name that no store has used before. */
  constructor(newGeneration: () => string = randomName) {
    this.#newGeneration = newGeneration;
  }

  get changes(): ChangeFeed {
    return this.#changes;
  }

  get checkpoint(): Checkpoint | undefined {
    return this.#checkpoint;
  }

  read<T>(use: (view: View) => T): T {
    if (this.#state === undefined) throw new NotReady();
    return use(new StateView(this.#state));
  }

  /** A scan of this store. It needs no end. */
  openScan(): StoreScan {
    const state = () => {
      if (this.#state === undefined) throw new NotReady();
      return this.#state;
    };
    return {
      ids: (template) => ({ ids: state().idsByTemplate(template), isComplete: true }),
      read: (use) => use(new StateView(state(), true)),
    };
  }

  async replace(contracts: Iterable<Contract | CountedOnly>, offset: number, asOf?: number): Promise<void> {
    const generation = this.#newGeneration();
    this.#state = new MemoryState(contracts, generation, offset, asOf);
    this.#checkpoint = { offset, updateId: undefined };
    this.#changes.reset({ generation, offset, asOf });
  }

  async apply(changes: readonly Change[], offset: number, asOf?: number, updateId?: string): Promise<void> {
    if (this.#state === undefined) throw new NotReady();
    if (offset <= this.#state.offset) return;
    this.#checkpoint = { offset, updateId };
    const tags = this.#state.apply(changes, offset, asOf);
    this.#changes.append({ offset, asOf: this.#state.asOf, tags });
  }
}

/** Throws if it is used after the state has moved on, so that no caller reads a mix of two states. */
class StateView implements View {
  readonly generation: string;
  readonly offset: number;
  readonly asOf: number | undefined;
  readonly #state: MemoryState;
  readonly #isScan: boolean;
  /** After `all`, nothing is cloned: a clone would be a second object, and few listed contracts are read again. */
  #hasListed = false;

  /** During a scan `byId` does not change the state. */
  constructor(state: MemoryState, isScan = false) {
    this.#state = state;
    this.#isScan = isScan;
    this.generation = state.generation;
    this.offset = state.offset;
    this.asOf = state.asOf;
  }

  byId<F>(template: Template<F>, contractId: string): Contract<F> | undefined {
    const state = this.#current();
    const contract = this.#isScan ? state.peek(contractId) : state.byId(contractId, !this.#hasListed);
    // The fields of a contract are those of its template.
    return contract?.template === template ? (contract as Contract<F>) : undefined;
  }

  byKey<F>(template: Template<F>, key: string): readonly Contract<F>[] {
    const contracts = this.#current().byKey(key);
    // Two templates rarely share a key: return the list itself where possible.
    for (const contract of contracts) {
      if (contract.template !== template) return contracts.filter((one) => one.template === template) as Contract<F>[];
    }
    return contracts as readonly Contract<F>[];
  }

  all<F>(template: Template<F>): readonly Contract<F>[] {
    this.#hasListed = true;
    return this.#current().byTemplate(template).toSorted(newestFirst) as Contract<F>[];
  }

  wasArchived(contractId: string, registrar?: string): boolean {
    return this.#current().wasArchived(contractId, registrar);
  }

  templateCounts(): readonly TemplateCount[] {
    return this.#current().templateCounts();
  }

  sums(names: readonly string[]): readonly bigint[] {
    const state = this.#current();
    return names.map((name) => state.sum(name));
  }

  #current(): MemoryState {
    if (this.#state.offset !== this.offset) throw new Error("a view of the store was used after its read had ended");
    return this.#state;
  }
}

const randomName = (): string => randomBytes(9).toString("base64url");
