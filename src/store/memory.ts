import {
  type Anchor,
  type Census,
  type Change,
  type Contract,
  type Counted,
  type Kind,
  newestFirst,
  NotReady,
  type StoreReader,
  type StoreWriter,
  type View,
} from "./store.js";
import { MemoryState } from "./memory-state.js";

/** A store in the memory of this process. Starts empty: not ready. */
export class MemoryStore implements StoreReader, StoreWriter {
  #state: MemoryState | undefined;
  #anchor: Anchor | undefined;

  get anchor(): Anchor | undefined {
    return this.#anchor;
  }

  /** Nothing changes the state while `use` runs, since it does not wait. */
  read<T>(use: (view: View) => T): T {
    if (this.#state === undefined) throw new NotReady();
    return use(new StateView(this.#state));
  }

  async replace(contracts: Iterable<Contract | Counted>, offset: number, asOf?: number): Promise<void> {
    this.#state = new MemoryState(contracts, offset, asOf);
    this.#anchor = { offset, updateId: undefined };
  }

  async apply(changes: readonly Change[], offset: number, asOf?: number, updateId?: string): Promise<void> {
    if (this.#state === undefined) throw new NotReady();
    if (offset > this.#state.offset) this.#anchor = { offset, updateId };
    this.#state.apply(changes, offset, asOf);
  }
}

/** Whoever keeps a view against its promise must not read a mixture through it. */
class StateView implements View {
  readonly offset: number;
  readonly asOf: number | undefined;
  readonly fetches = false;
  readonly #state: MemoryState;
  /** Who has listed a kind has its contracts as they are. Start-up and checks list hundreds of thousands, of which few will be asked for. */
  #hasListed = false;

  constructor(state: MemoryState) {
    this.#state = state;
    this.offset = state.offset;
    this.asOf = state.asOf;
  }

  foresee(): void {}

  byId<F>(kind: Kind<F>, contractId: string): Contract<F> | undefined {
    const contract = this.#current().byId(contractId, !this.#hasListed);
    // A contract's facts are of its own kind.
    return contract?.kind === kind ? (contract as Contract<F>) : undefined;
  }

  byKey<F>(kind: Kind<F>, key: string): readonly Contract<F>[] {
    const found = this.#current().byKey(key);
    // Hardly ever do two kinds share a key.
    for (const contract of found) {
      if (contract.kind !== kind) return found.filter((one) => one.kind === kind) as Contract<F>[];
    }
    return found as readonly Contract<F>[];
  }

  all<F>(kind: Kind<F>): readonly Contract<F>[] {
    this.#hasListed = true;
    // The state files a contract under its own kind.
    return this.#current().ofKind(kind).toSorted(newestFirst) as Contract<F>[];
  }

  wasArchived(contractId: string): boolean {
    return this.#current().wasArchived(contractId);
  }

  census(): readonly Census[] {
    return this.#current().census();
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
