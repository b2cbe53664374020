/** What the ledger held, and when: the states that may be served. Computed from the script alone. */
import type { ScriptedLedger } from "../scripted-participant/ledger.js";

/** The visible contracts of each package, as text. */
export type State = ReadonlyMap<string, string>;

interface Stored {
  readonly packageName: string;
  readonly contractId: string;
  readonly synchronizerId: string | undefined;
  readonly reassignmentCounter: number;
}

/**
 * A package that the participant lacks may be served without its contracts for this long after it is uploaded: a search
 * every 30 s, of which a script lets three in a row fail after 10 s each, and the slowest snapshot.
 */
const SEARCH_MS = 200_000;

export function stateOf(contracts: Iterable<Stored>): State {
  const byPackage = new Map<string, string[]>();
  for (const { packageName, contractId, synchronizerId, reassignmentCounter } of contracts) {
    const lines = byPackage.get(packageName) ?? [];
    if (lines.length === 0) byPackage.set(packageName, lines);
    lines.push(`${contractId} ${synchronizerId ?? "between"} ${reassignmentCounter}`);
  }
  return new Map([...byPackage].map(([name, lines]) => [name, lines.toSorted().join("; ")]));
}

interface Period {
  readonly since: number;
  readonly state: State;
  readonly packageNames: ReadonlySet<string>;
}

export class Truth {
  readonly #periods: Period[] = [];
  readonly #isServed: (contractId: string) => boolean;

  constructor(isServed: (contractId: string) => boolean) {
    this.#isServed = isServed;
  }

  /** The state of the ledger from now on. */
  record(ledger: ScriptedLedger, packageNames: ReadonlySet<string>, now: number): void {
    const served = [...ledger.contracts.values()].filter(({ contractId }) => this.#isServed(contractId));
    this.#periods.push({ since: now, state: stateOf(served), packageNames: new Set(packageNames) });
  }

  get now(): State {
    return this.#periods.at(-1)?.state ?? new Map<string, string>();
  }

  /** Whether the ledger had a state within a time before now. Contracts of missing packages may be left out. */
  hadWithin(ms: number, now: number, state: State, missing: readonly string[]): boolean {
    const lacking = missing.filter((name) =>
      this.#during(now - ms - SEARCH_MS, now).some(({ packageNames }) => !packageNames.has(name)),
    );
    return this.#during(now - ms, now).some((period) => isEqual(period.state, state, lacking));
  }

  /** The periods that overlap a time. */
  #during(from: number, to: number): readonly Period[] {
    return this.#periods.filter(({ since }, index) => since <= to && (this.#periods[index + 1]?.since ?? to) >= from);
  }
}

/** Whether two states are equal apart from packages that the second leaves out. */
export function isEqual(whole: State, state: State, leftOut: readonly string[] = []): boolean {
  const names = new Set([...whole.keys(), ...state.keys()]);
  return [...names].every(
    (name) => whole.get(name) === state.get(name) || (leftOut.includes(name) && !state.has(name)),
  );
}
