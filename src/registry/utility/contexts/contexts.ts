/** The choice contexts in force: contexts.yaml with the changes of a module and the operator, compiled once at start. */
import type { Template } from "../../../domain/template.js";
import { formatPath, type Path, type Problem } from "../../../util/object-reader.js";
import type { ContextDefinition } from "../context.js";
import { dvpLegAllocation, type Instruction } from "../instructions.js";
import { applyChanges } from "./apply-changes.js";
import { builtInTable } from "./built-in-table.js";
import { compileRow } from "./compile.js";
import { ContextsError, MODULE_PATH } from "./contexts-error.js";
import {
  type ChoiceOperation,
  choiceOperations,
  type FactoryOperation,
  factoryOperations,
  type InstructionKind,
} from "./operations.js";
import { readChange } from "./parse/change.js";
import { parseExtension } from "./parse/extension.js";
import { parseContextsFile } from "./parse/file.js";
import { namesOf, type Parts, partsWithEntries, partsWithExtension } from "./parts.js";
import type { ContextTable } from "./table.js";
import { PackageVersions } from "./versions.js";

export interface ChoiceContextDefinition extends ContextDefinition {
  /** What messages call the instruction. */
  readonly label: string;
  /** The templates of the instruction. */
  readonly templates: readonly Template<Instruction>[];
}

/** The compiled contexts of all operations. */
export interface UtilityContexts {
  readonly factories: Readonly<Record<FactoryOperation, ContextDefinition>>;
  readonly choices: Readonly<Record<ChoiceOperation, ChoiceContextDefinition>>;
  /** The templates of the Registry Utility, of the module, and of the operator's entries. */
  readonly templates: readonly Template[];
  readonly allocationTemplates: readonly Template<Instruction>[];
  readonly packageVersions: PackageVersions;
  /** The table in force. */
  readonly table: ContextTable;
}

/**
 * Compiles the contexts. `file` is the parsed content of the operator's contexts file, `extension` that of a module; both
 * are checked. Throws ContextsError with every problem.
 */
export function compileContexts(file: unknown = {}, extension: unknown = {}): UtilityContexts {
  const [ofModule, ofFile]: [Problem[], Problem[]] = [[], []];
  const throwAny = () => {
    if (ofModule.length + ofFile.length > 0) throw new ContextsError(ofModule, ofFile);
  };
  const parsed = parseExtension(extension, ofModule);
  throwAny();
  const extended = partsWithExtension(parsed, ofModule);
  const moduleChanges = parsed.operations.map((reader) => readChange(reader, namesOf(extended)));
  const { entries, changes, packages } = parseContextsFile(file, namesOf(extended), ofFile);
  const parts = partsWithEntries(extended, entries, ofFile);
  // Whether a change fits is known once its lines could be read.
  throwAny();
  const extendedTable = applyChanges(builtInTable, moduleChanges, reportTo(ofModule, [MODULE_PATH, "operations"]));
  const table = applyChanges(extendedTable, changes, reportTo(ofFile, ["changes"]));
  throwAny();
  const packageVersions = new PackageVersions(packages);
  const allocationTemplates = [dvpLegAllocation, ...parsed.allocations];
  return {
    ...compileTable(table, parts, packageVersions, allocationTemplates),
    templates: parts.templates,
    allocationTemplates,
    packageVersions,
    table,
  };
}

const reportTo = (problems: Problem[], list: Path) => (change: number, below: Path, reason: string) => {
  const path = [...list, change, ...below];
  problems.push({ path, reason: `${formatPath(path)} ${reason}` });
};

function compileTable(
  table: ContextTable,
  parts: Parts,
  packageVersions: PackageVersions,
  allocationTemplates: readonly Template<Instruction>[],
): Pick<UtilityContexts, "factories" | "choices"> {
  const factories = factoryOperations.map((name) => [name, compileRow(table[name], parts, packageVersions)] as const);
  const choices = Object.entries<InstructionKind>(choiceOperations).map(([name, { label, template }]) => {
    const row = compileRow(table[name as ChoiceOperation], parts, packageVersions);
    return [
      name,
      { ...row, label, templates: template === dvpLegAllocation ? allocationTemplates : [template] },
    ] as const;
  });
  // Both lists have every name of their type.
  return {
    factories: Object.fromEntries(factories) as UtilityContexts["factories"],
    choices: Object.fromEntries(choices) as UtilityContexts["choices"],
  };
}
