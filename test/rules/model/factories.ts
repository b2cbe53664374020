/** What the operations that use a factory have in common. */
import { BadRequest } from "./accounts.js";
import { buildContext, type Disclosure } from "./build-context.js";
import { distinct } from "./choice-arguments.js";
import { type ContextRow, type FactoryContext, factoryContexts } from "./contexts.js";
import type { EntryInputs } from "./entries.js";
import { type Expected, failed, type Failure } from "./expected.js";
import {
  configurationsOf,
  type Group,
  groupOf,
  isSameGroup,
  type Ledger,
  type LedgerContract,
  ofGroup,
  registrarsContracts,
} from "./ledger.js";
import type { Settings } from "./settings.js";
import { isOlder } from "./versions.js";

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

/**
 * The group of a request that names no input holdings: that of the newest configuration of its instruments, else that of
 * the newest factory.
 */
export function groupOfRequest(situation: Situation, instruments: readonly string[]): Group | undefined {
  const [first = [], ...others] = instruments.map((instrument) =>
    configurationsOf(situation.ledger, situation.registrar, instrument).map(groupOf),
  );
  const ofAll = first.find((group) => others.every((groups) => groups.some((one) => isSameGroup(one, group))));
  const [factory] = allocationFactoriesOf(situation);
  return ofAll ?? first[0] ?? (factory === undefined ? undefined : groupOf(factory));
}

/** The factories of the group; those of version 2 alone, if that is asked for. Or why there are none. */
export function factoriesOf(
  situation: Situation,
  group: Group,
  isVersion2: boolean,
): { readonly factories: readonly LedgerContract[]; readonly refused: Failure | undefined } {
  const all = ofGroup(allocationFactoriesOf(situation), group);
  const factories = isVersion2 ? all.filter((one) => !isOlder(situation.settings, one, "0.9.0")) : all;
  if (factories.length > 0) return { factories, refused: undefined };
  return { factories, refused: { status: 404, mentions: all.length === 0 ? ["AllocationFactory"] : ["version 2"] } };
}

interface FactoryRequest {
  readonly operation: FactoryContext;
  readonly inputs: EntryInputs;
  /** Default: that of the instruments. */
  readonly group?: Group | undefined;
  readonly isVersion2: boolean;
  readonly disclosures?: readonly Disclosure[];
}

export function answerWithFactory(situation: Situation, request: FactoryRequest): Expected {
  const { operation, inputs, isVersion2, disclosures = [] } = request;
  const group = request.group ?? groupOfRequest(situation, inputs.instruments);
  if (group === undefined) return failed(404);
  const { factories, refused } = factoriesOf(situation, group, isVersion2);
  if (refused !== undefined) return { kind: "failure", failures: [refused] };
  return answerOn(situation, group, factories, operation, inputs, disclosures);
}

/** Answers on the synchronizer of the newest factory that shares it with the needed contracts. */
export function answerOn(
  { ledger, settings, registrar }: Situation,
  group: Group,
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
    const { contractId } = factory;
    const { context, missing, blocked } = buildContext(
      { ledger, settings, registrar, group, synchronizer },
      { ...row, entries: entriesFor(operation, inputs) },
      factory,
      inputs,
      [{ contractId, candidates: [factory], isRequired: true }, ...disclosures],
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
