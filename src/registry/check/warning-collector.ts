import { type Warning, type WarningKind, warningKinds } from "../sdk/warnings.js";

/** Bounds memory: keeps this many warnings of each kind and only counts further ones. */
export const MAX_KEPT = 1_000;

/** Counts warnings by kind and keeps the first of each. Joins warnings that differ only in their operations. */
export class WarningCollector {
  readonly #kept = new Map<WarningKind, Map<string, Warning>>(warningKinds.map((kind) => [kind, new Map()]));
  readonly #counts = new Map<WarningKind, number>(warningKinds.map((kind) => [kind, 0]));

  add(warning: Warning): void {
    const { kind } = warning;
    const ofKind = this.#kept.get(kind);
    // A registry module may be plain JavaScript.
    if (ofKind === undefined) throw new Error(`a check returned a warning of the unknown kind ${kind}`);
    const key = keyOf(warning);
    const known = ofKind.get(key);
    if (known !== undefined) {
      ofKind.set(key, { ...known, operations: [...new Set([...known.operations, ...warning.operations])] });
      return;
    }
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1);
    if (ofKind.size < MAX_KEPT) ofKind.set(key, warning);
  }

  get counts(): Readonly<Record<WarningKind, number>> {
    // It has exactly the kinds.
    return Object.fromEntries(this.#counts) as Record<WarningKind, number>;
  }

  get total(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
  }

  /** The first `maxPerKind` warnings of each kind, in the order of the kinds. */
  warnings(maxPerKind: number = MAX_KEPT): readonly Warning[] {
    return warningKinds.flatMap((kind) => [...(this.#kept.get(kind)?.values() ?? [])].slice(0, maxPerKind));
  }
}

const keyOf = ({ registrar, instrument, contractId, party, refusal, problem }: Warning): string =>
  JSON.stringify([registrar, instrument, contractId, party, refusal, problem]);
