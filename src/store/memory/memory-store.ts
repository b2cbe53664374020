import type { Change } from "../../domain/change.js";
import { type Contract, type CountedOnly, newestFirst } from "../../domain/contract.js";
import type { Template } from "../../domain/template.js";
import {
  type Checkpoint,
  type TemplateCount,
  NotReady,
  type StoreReader,
  type StoreWriter,
  type View,
} from "../port.js";
import { MemoryState } from "./memory-state.js";

/** A store in the memory of this process. Starts empty: not ready. */
export class MemoryStore implements StoreReader, StoreWriter {
  #state: MemoryState | undefined;
  #checkpoint: Checkpoint | undefined;

  get checkpoint(): Checkpoint | undefined {
    return this.#checkpoint;
  }

  /** Nothing changes the state while `use` runs, since it does not wait. */
  read<T>(use: (view: View) => T): T {
    if (this.#state === undefined) throw new NotReady();
    return use(new StateView(this.#state));
  }

  async replace(contracts: Iterable<Contract | CountedOnly>, offset: number, asOf?: number): Promise<void> {
    this.#state = new MemoryState(contracts, offset, asOf);
    this.#checkpoint = { offset, updateId: undefined };
  }

  async apply(changes: readonly Change[], offset: number, asOf?: number, updateId?: string): Promise<void> {
    if (this.#state === undefined) throw new NotReady();
    if (offset > this.#state.offset) this.#checkpoint = { offset, updateId };
    this.#state.apply(changes, offset, asOf);
  }
}

/** Whoever keeps a view against its promise must not read a mixture through it. */
class StateView implements View {
  readonly offset: number;
  readonly asOf: number | undefined;
  readonly wantsPrefetch = false;
  readonly #state: MemoryState;
  /** Who has listed a kind has its contracts as they are. Start-up and checks list hundreds of thousands, of which few will be asked for. */
  #hasListed = false;

  constructor(state: MemoryState) {
    this.#state = state;
    this.offset = state.offset;
    this.asOf = state.asOf;
  }

  prefetch(): void {}

  byId<F>(template: Template<F>, contractId: string): Contract<F> | undefined {
    const contract = this.#current().byId(contractId, !this.#hasListed);
    // A contract's facts are of its own kind.
    return contract?.template === template ? (contract as Contract<F>) : undefined;
  }

  byKey<F>(template: Template<F>, key: string): readonly Contract<F>[] {
    const found = this.#current().byKey(key);
    // Hardly ever do two kinds share a key.
    for (const contract of found) {
      if (contract.template !== template) return found.filter((one) => one.template === template) as Contract<F>[];
    }
    return found as readonly Contract<F>[];
  }

  all<F>(template: Template<F>): readonly Contract<F>[] {
    this.#hasListed = true;
    // The state files a contract under its own kind.
    return this.#current().byTemplate(template).toSorted(newestFirst) as Contract<F>[];
  }

  wasArchived(contractId: string): boolean {
    return this.#current().wasArchived(contractId);
  }

  templateCounts(): readonly TemplateCount[] {
    return this.#current().templateCounts();
  }

  sums(names: readonly string[]): readonly bigint[] {
    const state = this.#current();
    return names.map((name) => state.sum(name));
  }

  #current(): MemoryState {
    if (this.#state.offset !== this.offset) throw new Error("a view of the store was used after its reading had ended");
    return this.#state;
  }
}
