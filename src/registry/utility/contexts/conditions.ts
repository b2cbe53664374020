import { packageIdOf } from "../../../domain/contract.js";
import type { ContractLookup, View } from "../../../store/port.js";
import type { EntryInputs, PrefetchInputs } from "../entries/context-entry.js";
import type { ContractSelector } from "../selection/contract-selector.js";
import { candidateConfigurations, instrumentConfigurationLookup } from "../selection/group.js";
import type { Condition, PackageCondition } from "./table.js";
import { compareVersions, type PackageVersions } from "./versions.js";

/** A condition of the table, ready to be evaluated for a request. */
export interface CompiledCondition {
  /** Whether the line applies to this request. */
  holds(selector: ContractSelector, inputs: EntryInputs): boolean;
  /** The lookups that `mayHold` reads; absent if it reads none. */
  prefetch?(inputs: PrefetchInputs): Iterable<ContractLookup>;
  /** Whether it may hold, for all that is known before the contracts are selected. */
  mayHold(inputs: PrefetchInputs, view: View): boolean;
}

export function compileCondition(condition: Condition, versions: PackageVersions): CompiledCondition {
  return typeof condition === "string" ? named[condition] : packageCondition(condition, versions);
}

const configurationLookups = ({ registrar, instruments }: PrefetchInputs): ContractLookup[] =>
  instruments.map((id) => instrumentConfigurationLookup(registrar, id));

const checkBlocklist: CompiledCondition = {
  holds(selector, { instruments }) {
    for (const id of instruments) if (selector.configuration(id, false)?.fields.checkBlocklist === true) return true;
    return false;
  },
  prefetch: configurationLookups,
  mayHold: ({ registrar, instruments }, view) =>
    instruments.some((id) => candidateConfigurations(view, registrar, id).some(({ fields }) => fields.checkBlocklist)),
};

const severalInstruments: CompiledCondition = {
  holds: (_selector, { instruments }) => instruments.length > 1,
  mayHold: ({ instruments }) => instruments.length > 1,
};

const configured: CompiledCondition = {
  holds(selector, { instruments }) {
    for (const id of instruments) if (selector.configuration(id, false) !== undefined) return true;
    return false;
  },
  prefetch: configurationLookups,
  mayHold: ({ registrar, instruments }, view) =>
    instruments.some((id) => candidateConfigurations(view, registrar, id).length > 0),
};

const named: Readonly<Record<Exclude<Condition, PackageCondition>, CompiledCondition>> = {
  checkBlocklist,
  severalInstruments,
  configured,
};

function packageCondition(condition: PackageCondition, versions: PackageVersions): CompiledCondition {
  const { package: name } = condition;
  return {
    holds: (_selector, { subject }) =>
      subject !== undefined &&
      subject.template.packageName === name &&
      isInRange(condition, versions.versionOf(packageIdOf(subject.templateId))),
    mayHold: () => true,
  };
}

/** A package whose version is not known counts as current. */
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
