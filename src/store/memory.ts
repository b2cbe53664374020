import {
  type Contract,
  type Found,
  type Kind,
  newestFirst,
  NotReady,
  type Question,
  type StoreReader,
  type StoreWriter,
  type View,
} from "./store.js";

/** A store in the memory of this process. Starts empty: not ready. */
export class MemoryStore implements StoreReader, StoreWriter {
  #state: State | undefined;

  async read<T>(use: (view: View) => Promise<T>): Promise<T> {
    if (this.#state === undefined) throw new NotReady();
    return use(this.#state);
  }

  async replace(contracts: Iterable<Contract>, offset: number): Promise<void> {
    this.#state = new State(contracts, offset);
  }
}

/** One state with its indexes. Never changed once it is built, so readers may share it. */
class State implements View {
  readonly offset: number;
  readonly #byId = new Map<string, Contract>();
  readonly #byKey = new Map<string, Contract[]>();
  readonly #byKind = new Map<Kind, Contract[]>();

  constructor(contracts: Iterable<Contract>, offset: number) {
    this.offset = offset;
    for (const contract of contracts) {
      if (this.#byId.has(contract.contractId)) throw new Error(`contract ${contract.contractId} appears twice`);
      this.#byId.set(contract.contractId, contract);
      append(this.#byKind, contract.kind, contract);
      for (const key of contract.keys) append(this.#byKey, key, contract);
    }
    for (const index of [this.#byKind, this.#byKey]) {
      for (const list of index.values()) list.sort(newestFirst);
    }
  }

  async read<const Q extends readonly Question[]>(questions: Q): Promise<Found<Q>> {
    // Each list holds contracts of the kind asked for, which is what Found says.
    return questions.map((question) => this.#answer(question)) as unknown as Found<Q>;
  }

  async all<F>(kind: Kind<F>): Promise<readonly Contract<F>[]> {
    // #byKind files a contract under its own kind.
    return (this.#byKind.get(kind) ?? []) as Contract<F>[];
  }

  #answer(question: Question): readonly Contract[] {
    if ("key" in question) {
      return (this.#byKey.get(question.key) ?? []).filter(({ kind }) => kind === question.kind);
    }
    const contract = this.#byId.get(question.contractId);
    return contract?.kind === question.kind ? [contract] : [];
  }
}

function append<K>(index: Map<K, Contract[]>, key: K, contract: Contract): void {
  const list = index.get(key);
  if (list === undefined) index.set(key, [contract]);
  else list.push(contract);
}
