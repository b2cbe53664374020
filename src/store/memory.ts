import {
  type Census,
  type Change,
  type Contract,
  type Counted,
  type Found,
  type Kind,
  newestFirst,
  NotReady,
  type Question,
  type StoreReader,
  type StoreWriter,
  type View,
} from "./store.js";
import { MemoryState } from "./memory-state.js";

/** How often a read begins anew because the state moved under it. */
const READ_ATTEMPTS = 10;

/** A store in the memory of this process. Starts empty: not ready. */
export class MemoryStore implements StoreReader, StoreWriter {
  #state: MemoryState | undefined;

  async read<T>(use: (view: View) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      if (this.#state === undefined) throw new NotReady();
      try {
        return await use(new StateView(this.#state));
      } catch (error) {
        if (!(error instanceof Moved) || attempt === READ_ATTEMPTS) throw error;
      }
    }
  }

  async replace(contracts: Iterable<Contract | Counted>, offset: number, asOf?: number): Promise<void> {
    this.#state = new MemoryState(contracts, offset, asOf);
  }

  async apply(changes: readonly Change[], offset: number, asOf?: number): Promise<void> {
    if (this.#state === undefined) throw new NotReady();
    this.#state.apply(changes, offset, asOf);
  }
}

/** The state has been changed since a view on it was made, so that its answers would mix offsets. */
class Moved extends Error {}

/** A view for one read. The state is changed in place, which ends the view. */
class StateView implements View {
  readonly offset: number;
  readonly asOf: number | undefined;
  readonly #state: MemoryState;

  constructor(state: MemoryState) {
    this.#state = state;
    this.offset = state.offset;
    this.asOf = state.asOf;
  }

  async read<const Q extends readonly Question[]>(questions: Q): Promise<Found<Q>> {
    this.#hold();
    // Each list holds contracts of the kind asked for, which is what Found says.
    return questions.map((question) => this.#answer(question)) as unknown as Found<Q>;
  }

  async all<F>(kind: Kind<F>): Promise<readonly Contract<F>[]> {
    this.#hold();
    // The state files a contract under its own kind.
    return this.#state.ofKind(kind).toSorted(newestFirst) as Contract<F>[];
  }

  async wasArchived(contractId: string): Promise<boolean> {
    this.#hold();
    return this.#state.wasArchived(contractId);
  }

  async census(): Promise<readonly Census[]> {
    this.#hold();
    return this.#state.census();
  }

  async sums(names: readonly string[]): Promise<readonly bigint[]> {
    this.#hold();
    return names.map((name) => this.#state.sum(name));
  }

  #hold(): void {
    if (this.#state.offset !== this.offset) throw new Moved();
  }

  #answer(question: Question): readonly Contract[] {
    if ("key" in question) {
      const found = this.#state.byKey(question.key);
      // Hardly ever do two kinds share a key.
      for (const { kind } of found)
        if (kind !== question.kind) return found.filter((one) => one.kind === question.kind);
      return found;
    }
    const contract = this.#state.byId(question.contractId);
    return contract?.kind === question.kind ? [contract] : [];
  }
}
