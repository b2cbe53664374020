/** Versions of Daml packages, by which conditions decide. */
import type { PackageCondition } from "./grammar.js";
import { type Contract, packageIdOf } from "../../domain/contract.js";

/** Numbers separated by points. */
export const VERSION = /^\d{1,15}(?:\.\d{1,15}){0,9}$/;

/** Negative if `a` is older than `b`, 0 if they are equal. Missing numbers count as 0. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [a.split(".").map(Number), b.split(".").map(Number)];
  for (let index = 0; index < Math.max(left.length, right.length); index++) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** The versions of package ids: those of the file, else of the participant, else published ones. */
export class PackageVersions {
  #learnt: ReadonlyMap<string, string> = new Map();

  constructor(
    private readonly configured: ReadonlyMap<string, string> = new Map(),
    private readonly published: Readonly<Record<string, string>> = {},
  ) {}

  /** The participant's versions, in place of those that it gave before. */
  learn(versions: ReadonlyMap<string, string>): void {
    this.#learnt = versions;
  }

  /** Undefined if the version is not known: such a package counts as current. */
  versionOf(packageId: string): string | undefined {
    return (
      this.configured.get(packageId) ??
      this.#learnt.get(packageId) ??
      (Object.hasOwn(this.published, packageId) ? this.published[packageId] : undefined)
    );
  }

  /** Whether the package is known to be older than a version. */
  isOlder(packageId: string, version: string): boolean {
    const known = this.versionOf(packageId);
    return known !== undefined && compareVersions(known, version) < 0;
  }

  /** Whether the contract is of the package and in the range. A package whose version is not known counts as current. */
  meets({ package: name, from, before }: PackageCondition, contract: Contract | undefined): boolean {
    if (contract === undefined || contract.template.packageName !== name) return false;
    const version = this.versionOf(packageIdOf(contract.templateId));
    if (version === undefined) return before === undefined;
    if (from !== undefined && compareVersions(version, from) < 0) return false;
    return before === undefined || compareVersions(version, before) < 0;
  }
}
