import { packageIdOf } from "../../../domain/contract.js";
import type { View } from "../../../store/port.js";
import type { EntryInputs, PrefetchInputs } from "../entries/context-entry.js";
import type { ContractSelector } from "../selection/contract-selector.js";
import { candidateConfigurations } from "../selection/contract-selector.js";
import type { Condition, PackageCondition } from "./table.js";
import { compareVersions } from "./versions.js";

/** A condition of the table, ready to be evaluated for a request. */
export interface CompiledCondition {
  /** Whether the line applies to this request. */
  holds(selector: ContractSelector, inputs: EntryInputs): boolean;
  /** Whether it may apply, for all that is known before the contracts are selected. */
  mayHold(view: View, inputs: PrefetchInputs): boolean;
}

/** `versions` has the versions of package ids. */
export function compileCondition(condition: Condition, versions: ReadonlyMap<string, string>): CompiledCondition {
  if (condition === "checkBlocklist") return checkBlocklist;
  return condition === "severalInstruments" ? severalInstruments : packageCondition(condition, versions);
}

const checkBlocklist: CompiledCondition = {
  holds: (selector, { instruments }) =>
    instruments.some((id) => selector.configuration(id, false)?.fields.checkBlocklist === true),
  mayHold: (view, { registrar, instruments }) =>
    instruments.some((id) => candidateConfigurations(view, registrar, id).some(({ fields }) => fields.checkBlocklist)),
};

const severalInstruments: CompiledCondition = {
  holds: (_selector, { instruments }) => instruments.length > 1,
  mayHold: (_view, { instruments }) => instruments.length > 1,
};

function packageCondition(
  { package: name, from, before }: PackageCondition,
  versions: ReadonlyMap<string, string>,
): CompiledCondition {
  const holds = ({ subject }: EntryInputs): boolean => {
    if (subject === undefined || subject.template.packageName !== name) return false;
    const version = versions.get(packageIdOf(subject.templateId));
    // A package that the operator does not list counts as current.
    if (version === undefined) return before === undefined;
    if (from !== undefined && compareVersions(version, from) < 0) return false;
    return before === undefined || compareVersions(version, before) < 0;
  };
  return { holds: (_selector, inputs) => holds(inputs), mayHold: () => true };
}
