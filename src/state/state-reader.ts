import { type Contract, newestFirst } from "../domain/contract.js";
import { isOf, type Template } from "../domain/template.js";
import { NotReady, type StoreReader, type TemplateCount, type View } from "./port.js";
import type { State } from "./state.js";

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
