/** Which outcomes each operation can have, and which it had. An outcome is a status, or the kind of a transfer. */
import { choiceContexts, type ContextRow, type InstructionChoice } from "./contexts.js";
import type { IssuanceOperation, Operation } from "./requests.js";
import type { Settings } from "./settings.js";

export class Outcomes {
  readonly #seen = new Map<Operation, Set<string>>();

  add(operation: Operation, outcome: string): void {
    this.#seen.set(operation, new Set(this.#seen.get(operation)).add(outcome));
  }

  /** Sorted, by operation. */
  toObject(): Readonly<Record<string, readonly string[]>> {
    return Object.fromEntries([...this.#seen].map(([operation, outcomes]) => [operation, sorted(outcomes)]));
  }
}

const sorted = (texts: Iterable<string>): string[] => [...texts].toSorted((a, b) => (a < b ? -1 : 1));

const issuances: readonly IssuanceOperation[] = [
  "mint-offer/create",
  "mint-request/create",
  "burn-offer/create",
  "burn-request/create",
  "burn-mint-factory",
];

/** In the form of `toObject`. */
export function possibleOutcomes({ blocklist }: Settings): Readonly<Record<string, readonly string[]>> {
  // Without choice arguments only an instrument that checks an unknown blocklist is 400.
  const withoutArguments = blocklist ? ["200", "404", "409"] : ["200", "400", "404", "409"];
  const choices = Object.keys(choiceContexts) as InstructionChoice[];
  return {
    "transfer-factory": ["400", "404", "409", "direct", "offer", "self"],
    "allocation-factory": ["200", "400", "404", "409"],
    "settlement-factory": ["200", "400", "404", "409"],
    ...Object.fromEntries(issuances.map((operation) => [operation, withoutArguments])),
    ...Object.fromEntries(choices.map((choice) => [choice, isExit(choice) ? ["200", "404", "409"] : withoutArguments])),
    "allocation-instruction/accept": ["400", "404"],
    "allocation-instruction/withdraw": ["400", "404"],
    "instrument-configuration": ["200", "404", "409"],
    instruments: ["200", "404"],
    "supported-apis": ["200", "404"],
    "instrument-configurations": ["200"],
    operator: ["200", "404"],
  };
}

const isExit = (choice: InstructionChoice): boolean => (choiceContexts[choice] as ContextRow).isExit === true;
