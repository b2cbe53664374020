import type { Census, Contract, Kind, Question, View } from "../store/store.js";

/** A view that notes which contracts were asked for by id and not found. */
export class WatchedView implements View {
  readonly #view: View;
  #missed: string[] | undefined;

  constructor(view: View) {
    this.#view = view;
  }

  get offset(): number {
    return this.#view.offset;
  }

  get asOf(): number | undefined {
    return this.#view.asOf;
  }

  get fetches(): boolean {
    return this.#view.fetches;
  }

  foresee(questions: () => Iterable<Question>): void {
    this.#view.foresee(questions);
  }

  byId<F>(kind: Kind<F>, contractId: string): Contract<F> | undefined {
    const found = this.#view.byId(kind, contractId);
    if (found === undefined) (this.#missed ??= []).push(contractId);
    return found;
  }

  byKey<F>(kind: Kind<F>, key: string): readonly Contract<F>[] {
    return this.#view.byKey(kind, key);
  }

  all<F>(kind: Kind<F>): readonly Contract<F>[] {
    return this.#view.all(kind);
  }

  wasArchived(contractId: string): boolean {
    return this.#view.wasArchived(contractId);
  }

  census(): readonly Census[] {
    return this.#view.census();
  }

  sums(names: readonly string[]): readonly bigint[] {
    return this.#view.sums(names);
  }

  /** Whether a contract was missed that may yet come: one that is known to be archived will not. */
  missedUnarchived(): boolean {
    return this.#missed?.some((contractId) => !this.#view.wasArchived(contractId)) ?? false;
  }
}
