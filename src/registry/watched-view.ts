import type { Census, Contract, Found, Kind, Question, View } from "../store/store.js";

/** A view that notes which contracts were asked for by id and not found. */
export class WatchedView implements View {
  readonly #view: View;
  readonly #missed = new Set<string>();

  constructor(view: View) {
    this.#view = view;
  }

  get offset(): number {
    return this.#view.offset;
  }

  get asOf(): number | undefined {
    return this.#view.asOf;
  }

  async read<const Q extends readonly Question[]>(questions: Q): Promise<Found<Q>> {
    const found = await this.#view.read(questions);
    for (let index = 0; index < questions.length; index++) {
      const question = questions[index];
      const contracts: readonly Contract[] | undefined = found[index];
      if (question !== undefined && "contractId" in question && contracts?.length === 0) {
        this.#missed.add(question.contractId);
      }
    }
    return found;
  }

  all<F>(kind: Kind<F>): Promise<readonly Contract<F>[]> {
    return this.#view.all(kind);
  }

  wasArchived(contractId: string): Promise<boolean> {
    return this.#view.wasArchived(contractId);
  }

  census(): Promise<readonly Census[]> {
    return this.#view.census();
  }

  sums(names: readonly string[]): Promise<readonly bigint[]> {
    return this.#view.sums(names);
  }

  /** Whether a contract was missed that may yet come: one that is known to be archived will not. */
  async missedUnarchived(): Promise<boolean> {
    for (const contractId of this.#missed) {
      if (!(await this.#view.wasArchived(contractId))) return true;
    }
    return false;
  }
}
