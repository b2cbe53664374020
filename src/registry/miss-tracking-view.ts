import type { Contract } from "../domain/contract.js";
import type { Template } from "../domain/template.js";
import type { TemplateCount, ContractLookup, View } from "../store/port.js";

/** A view that records which contract ids were not found. */
export class MissTrackingView implements View {
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

  get wantsPrefetch(): boolean {
    return this.#view.wantsPrefetch;
  }

  prefetch(lookups: () => Iterable<ContractLookup>): void {
    this.#view.prefetch(lookups);
  }

  byId<F>(template: Template<F>, contractId: string): Contract<F> | undefined {
    const found = this.#view.byId(template, contractId);
    if (found === undefined) (this.#missed ??= []).push(contractId);
    return found;
  }

  byKey<F>(template: Template<F>, key: string): readonly Contract<F>[] {
    return this.#view.byKey(template, key);
  }

  all<F>(template: Template<F>): readonly Contract<F>[] {
    return this.#view.all(template);
  }

  wasArchived(contractId: string): boolean {
    return this.#view.wasArchived(contractId);
  }

  templateCounts(): readonly TemplateCount[] {
    return this.#view.templateCounts();
  }

  sums(names: readonly string[]): readonly bigint[] {
    return this.#view.sums(names);
  }

  /** Whether a contract was not found that the ledger may have: an archived one it does not. */
  missedUnarchived(): boolean {
    return this.#missed?.some((contractId) => !this.#view.wasArchived(contractId)) ?? false;
  }
}
