import type { Contract } from "../domain/contract.js";
import type { Template } from "../domain/template.js";
import { idHash, sumHash, templateHash, tagNumberOf } from "../store/lookup-hash.js";
import type { TemplateCount, ContractLookup, View } from "../store/port.js";
import { tagOfContract, tagOfKey } from "./lookup-tags.js";

/** A view that records what is looked up, and what is not found. */
export class TrackingView implements View {
  readonly #view: View;
  readonly #found: Contract[] = [];
  readonly #keys: string[] = [];
  #missed: string[] | undefined;
  /** The tags of rare lookups. */
  #others: number[] | undefined;
  #isTagged = true;

  constructor(view: View) {
    this.#view = view;
  }

  get generation(): string {
    return this.#view.generation;
  }

  get offset(): number {
    return this.#view.offset;
  }

  /** An answer that has the time of the latest update changes with every update. */
  get asOf(): number | undefined {
    this.#isTagged = false;
    return this.#view.asOf;
  }

  /** As `asOf`, not for answers. */
  get time(): number | undefined {
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
    else this.#found.push(found);
    return found;
  }

  byKey<F>(template: Template<F>, key: string): readonly Contract<F>[] {
    this.#keys.push(key);
    return this.#view.byKey(template, key);
  }

  all<F>(template: Template<F>): readonly Contract<F>[] {
    (this.#others ??= []).push(tagNumberOf(templateHash(template)));
    return this.#view.all(template);
  }

  wasArchived(contractId: string, registrar?: string): boolean {
    (this.#others ??= []).push(tagNumberOf(idHash(contractId)));
    return this.#view.wasArchived(contractId, registrar);
  }

  templateCounts(): readonly TemplateCount[] {
    this.#isTagged = false;
    return this.#view.templateCounts();
  }

  sums(names: readonly string[]): readonly bigint[] {
    (this.#others ??= []).push(...names.map((name) => tagNumberOf(sumHash(name))));
    return this.#view.sums(names);
  }

  /** The tags of all lookups as numbers; undefined if no tags name all that was read. */
  tags(): readonly number[] | undefined {
    if (!this.#isTagged) return undefined;
    const tags = this.#found.map(tagOfContract);
    for (const key of this.#keys) tags.push(tagOfKey(key));
    for (const contractId of this.#missed ?? []) tags.push(tagNumberOf(idHash(contractId)));
    for (const tag of this.#others ?? []) tags.push(tag);
    return tags;
  }

  /** Whether a contract was not found that the ledger may have: an archived one it does not. */
  missedUnarchived(): boolean {
    return this.#missed?.some((contractId) => !this.#view.wasArchived(contractId)) ?? false;
  }
}
