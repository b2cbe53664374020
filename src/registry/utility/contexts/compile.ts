import type { ContextDefinition } from "../context.js";
import { type CompiledCondition, compileCondition } from "./conditions.js";
import type { Parts } from "./parts.js";
import type { PackageVersions } from "./versions.js";
import type { Condition, LineOptions, OperationRow } from "./table.js";

/** Compiles the row of an operation, so that a request evaluates no names and no text. */
export function compileRow(row: OperationRow, parts: Parts, packageVersions: PackageVersions): ContextDefinition {
  const compile = (condition: Condition | undefined): CompiledCondition | undefined =>
    condition === undefined ? undefined : compileCondition(condition, packageVersions);
  const options = ({ required, requiredWhen, when }: LineOptions) => ({
    required,
    requiredWhen: compile(requiredWhen),
    when: compile(when),
  });
  const lines = [...row.entries, ...row.disclosures];
  return {
    entries: row.entries.map((line) => ({
      part: partNamed(parts.entries, line.entry),
      keys: line.keys,
      ...options(line),
    })),
    disclosures: row.disclosures.map((line) => ({
      name: line.disclosure,
      part: partNamed(parts.disclosures, line.disclosure),
      ...options(line),
    })),
    allowsMissing: row.allowsMissing,
    refusesBlocklist: row.needsBlocklist && !lines.some(({ when }) => when === "checkBlocklist"),
  };
}

/** Reading the table has rejected unknown names. */
function partNamed<T>(parts: ReadonlyMap<string, T>, name: string): T {
  const part = parts.get(name);
  if (part === undefined) throw new Error(`the table of operations names ${name}, which does not exist`);
  return part;
}
