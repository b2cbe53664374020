import { packageIdOf } from "../../../domain/contract.js";
import type { ContractLookup, View } from "../../../store/port.js";
import { boundedMemoize } from "../../../util/bounded-memoize.js";
import type { EntryInputs, PrefetchInputs } from "../entries/context-entry.js";
import {
  candidateConfigurations,
  type ContractSelector,
  instrumentConfigurationLookup,
} from "../selection/contract-selector.js";
import type { Condition, PackageCondition } from "./table.js";
import { compareVersions } from "./versions.js";

/** A condition of the table, ready to be evaluated for a request. */
export interface CompiledCondition {
  /** Whether the line applies to this request. */
  holds(selector: ContractSelector, inputs: EntryInputs): boolean;
  /** The lookups that `mayHold` reads; absent if it reads none. */
  prefetch?(inputs: PrefetchInputs): Iterable<ContractLookup>;
  /** Whether it may hold, for all that is known before the contracts are selected. */
  mayHold(inputs: PrefetchInputs, view: View): boolean;
}

/** `versions` has the versions of package ids. */
export function compileCondition(condition: Condition, versions: ReadonlyMap<string, string>): CompiledCondition {
  if (condition === "checkBlocklist") return checkBlocklist;
  return condition === "severalInstruments" ? severalInstruments : packageCondition(condition, versions);
}

const checkBlocklist: CompiledCondition = {
  holds(selector, { instruments }) {
    for (const id of instruments) if (selector.configuration(id, false)?.fields.checkBlocklist === true) return true;
    return false;
  },
  prefetch: ({ registrar, instruments }) => instruments.map((id) => instrumentConfigurationLookup(registrar, id)),
  mayHold: ({ registrar, instruments }, view) =>
    instruments.some((id) => candidateConfigurations(view, registrar, id).some(({ fields }) => fields.checkBlocklist)),
};

const severalInstruments: CompiledCondition = {
  holds: (_selector, { instruments }) => instruments.length > 1,
  mayHold: ({ instruments }) => instruments.length > 1,
};

function packageCondition(condition: PackageCondition, versions: ReadonlyMap<string, string>): CompiledCondition {
  const { package: name } = condition;
  // Decided once for each template id of the ledger.
  const holdsFor = boundedMemoize((templateId) => isInRange(condition, versions.get(packageIdOf(templateId))));
  return {
    holds: (_selector, { subject }) =>
      subject !== undefined && subject.template.packageName === name && holdsFor(subject.templateId),
    mayHold: () => true,
  };
}

/** A package that the operator does not list counts as current. */
function isInRange({ from, before }: PackageCondition, version: string | undefined): boolean {
  if (version === undefined) return before === undefined;
  if (from !== undefined && compareVersions(version, from) < 0) return false;
  return before === undefined || compareVersions(version, before) < 0;
}

/** Whether no request meets both: a request is about one contract, which has one package and version. */
export function areExclusive(a: Condition | undefined, b: Condition | undefined): boolean {
  if (typeof a !== "object" || typeof b !== "object") return false;
  return a.package !== b.package || isBelow(a, b) || isBelow(b, a);
}

const isBelow = ({ before }: PackageCondition, { from }: PackageCondition): boolean =>
  before !== undefined && from !== undefined && compareVersions(before, from) <= 0;
