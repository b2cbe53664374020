import type { Contract } from "../../../domain/contract.js";
import type { Template } from "../../../domain/template.js";
import type { TemplateCount, View } from "../../../store/port.js";
import type { CheckContext } from "../../sdk/registry.js";

/** Passes every read on, and records the first contract in reassignment that was read. */
export class RecordingView implements View {
  readonly #view: View;
  #moving: Contract | undefined;

  constructor(view: View) {
    this.#view = view;
  }

  /** The first contract in reassignment that was read since the last call. */
  takeMoving(): Contract | undefined {
    const moving = this.#moving;
    this.#moving = undefined;
    return moving;
  }

  byId<F>(template: Template<F>, contractId: string): Contract<F> | undefined {
    const found = this.#view.byId(template, contractId);
    if (found?.synchronizerId === undefined) this.#moving ??= found;
    return found;
  }

  byKey<F>(template: Template<F>, key: string): readonly Contract<F>[] {
    const found = this.#view.byKey(template, key);
    this.#moving ??= found.find(({ synchronizerId }) => synchronizerId === undefined);
    return found;
  }

  get generation(): string {
    return this.#view.generation;
  }

  get offset(): number {
    return this.#view.offset;
  }

  get asOf(): number | undefined {
    return this.#view.asOf;
  }

  all<F>(template: Template<F>): readonly Contract<F>[] {
    return this.#view.all(template);
  }

  wasArchived(contractId: string, registrar?: string): boolean {
    return this.#view.wasArchived(contractId, registrar);
  }

  templateCounts(): readonly TemplateCount[] {
    return this.#view.templateCounts();
  }

  sums(names: readonly string[]): readonly bigint[] {
    return this.#view.sums(names);
  }
}

export interface RecordingContext extends CheckContext {
  readonly view: RecordingView;
}

export const recording = (context: CheckContext): RecordingContext => ({
  ...context,
  view: new RecordingView(context.view),
});
