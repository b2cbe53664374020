import { packageIdOf } from "../../../domain/contract.js";
import type { EntryInputs } from "../context.js";
import type { ContractSelector } from "../selector.js";
import type { Condition, PackageCondition } from "./table.js";
import { compareVersions, type PackageVersions } from "./versions.js";

/** Whether a line of the table applies to a request. */
export type CompiledCondition = (selector: ContractSelector, inputs: EntryInputs) => boolean;

export function compileCondition(condition: Condition, versions: PackageVersions): CompiledCondition {
  return typeof condition === "string" ? named[condition] : packageCondition(condition, versions);
}

const named: Readonly<Record<Exclude<Condition, PackageCondition>, CompiledCondition>> = {
  checkBlocklist(selector, { instruments }) {
    for (const id of instruments) if (selector.configuration(id, false)?.fields.checkBlocklist === true) return true;
    return false;
  },
  severalInstruments: (_selector, { instruments }) => instruments.length > 1,
  configured(selector, { instruments }) {
    for (const id of instruments) if (selector.configuration(id, false) !== undefined) return true;
    return false;
  },
};

const packageCondition =
  (condition: PackageCondition, versions: PackageVersions): CompiledCondition =>
  (_selector, { subject }) =>
    subject !== undefined &&
    subject.template.packageName === condition.package &&
    isInRange(condition, versions.versionOf(packageIdOf(subject.templateId)));

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
