/** What the operations that use a factory have in common. */
import { BadRequest } from "./accounts.js";
import { buildContext, type Disclosure } from "./build-context.js";
import { distinct } from "./choice-arguments.js";
import { type ContextRow, type FactoryContext, factoryContexts } from "./contexts.js";
import type { EntryInputs } from "./entries.js";
import { type Expected, failed, type Failure } from "./expected.js";
import { type Ledger, type LedgerContract, readText, registrarsContracts } from "./ledger.js";
import type { Settings } from "./settings.js";

/** The state on which a request is answered. */
export interface Situation {
  readonly ledger: Ledger;
  readonly settings: Settings;
  readonly registrar: string;
}

export const allocationFactoriesOf = ({ ledger, registrar }: Situation): LedgerContract[] =>
  registrarsContracts(ledger, "AllocationFactory", registrar);

/** A registrar is served if it has an AllocationFactory. */
export function unservedFailures(situation: Situation): Failure[] {
  if (allocationFactoriesOf(situation).length > 0) return [];
  return [{ status: 404, mentions: [situation.registrar, "not served"] }];
}

/** Malformed arguments are 400, and an unserved registrar is 404. Where both hold, either is right. */
export function withArguments<T>(situation: Situation, parse: () => T, answer: (parsed: T) => Expected): Expected {
  const unserved = unservedFailures(situation);
  try {
    const parsed = parse();
    return unserved.length > 0 ? { kind: "failure", failures: unserved } : answer(parsed);
  } catch (error) {
    if (!(error instanceof BadRequest)) throw error;
    return { kind: "failure", failures: [{ status: 400, mentions: [] }, ...unserved] };
  }
}

export const answerWithFactory = (
  situation: Situation,
  operation: FactoryContext,
  inputs: EntryInputs,
  disclosures: readonly Disclosure[] = [],
): Expected => answerOn(situation, allocationFactoriesOf(situation), operation, inputs, disclosures);

/** Answers on the synchronizer of the newest factory that shares it with the needed contracts. */
export function answerOn(
  { ledger, settings, registrar }: Situation,
  factories: readonly LedgerContract[],
  operation: FactoryContext,
  inputs: EntryInputs,
  disclosures: readonly Disclosure[],
): Expected {
  const row: ContextRow = factoryContexts[operation];
  const failures: Failure[] = [];
  for (const synchronizer of distinct(factories.map(({ synchronizerId }) => synchronizerId))) {
    const factory = factories.find(({ synchronizerId }) => synchronizerId === synchronizer);
    if (synchronizer === undefined || factory === undefined) continue;
    const { contractId, payload } = factory;
    const { context, missing, blocked } = buildContext(
      { ledger, settings, registrar, synchronizer },
      { ...row, entries: entriesFor(operation, inputs) },
      factory,
      { ...inputs, provider: readText(payload, "provider") },
      [{ contractId, candidates: [factory] }, ...disclosures],
    );
    failures.push(...missing, ...blocked);
    // A blocklist is no reason to answer from another synchronizer.
    if (missing.length === 0 && blocked.length > 0) return { kind: "failure", failures };
    if (missing.length === 0) return { kind: "context", context, factoryId: contractId };
  }
  return failures.length === 0 ? failed(409) : { kind: "failure", failures };
}

/** An allocation of several instruments has their configurations in a map. */
function entriesFor(operation: FactoryContext, { instruments }: EntryInputs): ContextRow["entries"] {
  const { entries } = factoryContexts[operation];
  if (operation !== "allocation-factory" || instruments.length < 2) return entries;
  return entries.map((entry) => (entry === "instrument-configuration" ? "instrument-configurations" : entry));
}
