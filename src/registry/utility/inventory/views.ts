import type { Contract } from "../../../domain/contract.js";
import type { Template } from "../../../domain/template.js";
import type { ContractLookup, TemplateCount, View } from "../../../store/port.js";
import type { CheckContext } from "../../sdk/registry.js";

/** A view that passes every read on. */
abstract class DelegatingView implements View {
  protected readonly view: View;

  constructor(view: View) {
    this.view = view;
  }

  abstract readonly wantsPrefetch: boolean;
  abstract prefetch(lookups: () => Iterable<ContractLookup>): void;

  get generation(): string {
    return this.view.generation;
  }

  get offset(): number {
    return this.view.offset;
  }

  get asOf(): number | undefined {
    return this.view.asOf;
  }

  byId<F>(template: Template<F>, contractId: string): Contract<F> | undefined {
    return this.view.byId(template, contractId);
  }

  byKey<F>(template: Template<F>, key: string): readonly Contract<F>[] {
    return this.view.byKey(template, key);
  }

  all<F>(template: Template<F>): readonly Contract<F>[] {
    return this.view.all(template);
  }

  wasArchived(contractId: string, registrar?: string): boolean {
    return this.view.wasArchived(contractId, registrar);
  }

  templateCounts(): readonly TemplateCount[] {
    return this.view.templateCounts();
  }

  sums(names: readonly string[]): readonly bigint[] {
    return this.view.sums(names);
  }
}

/** Records the first contract in reassignment that was read. Its lookups have been prefetched before. */
export class RecordingView extends DelegatingView {
  readonly wantsPrefetch = false;
  #moving: Contract | undefined;

  /** The first contract in reassignment that was read since the last call. */
  takeMoving(): Contract | undefined {
    const moving = this.#moving;
    this.#moving = undefined;
    return moving;
  }

  prefetch(): void {}

  override byId<F>(template: Template<F>, contractId: string): Contract<F> | undefined {
    const found = super.byId(template, contractId);
    if (found?.synchronizerId === undefined) this.#moving ??= found;
    return found;
  }

  override byKey<F>(template: Template<F>, key: string): readonly Contract<F>[] {
    const found = super.byKey(template, key);
    this.#moving ??= found.find(({ synchronizerId }) => synchronizerId === undefined);
    return found;
  }
}

export interface RecordingContext extends CheckContext {
  readonly view: RecordingView;
}

export const recording = (context: CheckContext): RecordingContext => ({
  ...context,
  view: new RecordingView(context.view),
});

/** Collects what is prefetched instead of fetching it. */
class CollectingView extends DelegatingView {
  readonly wantsPrefetch = true;
  readonly collected: ContractLookup[] = [];

  prefetch(lookups: () => Iterable<ContractLookup>): void {
    this.collected.push(...lookups());
  }
}

/** Fetches everything that `each` prefetches for all of the items in one round trip, instead of one for each item. */
export function prefetchAll<T>(view: View, items: readonly T[], each: (view: View, item: T) => void): void {
  if (!view.wantsPrefetch) return;
  const collecting = new CollectingView(view);
  for (const item of items) each(collecting, item);
  view.prefetch(() => collecting.collected);
}
