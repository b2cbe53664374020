/** The choice contexts in force: contexts.yaml with the changes of a module and the operator, compiled once at start. */
import type { Template } from "../../../domain/template.js";
import { formatPath, ObjectReader, type Path, type Problem } from "../../../util/object-reader.js";
import type { ContextDefinition } from "../entries/context-definition.js";
import { dvpLegAllocation, type Instruction } from "../templates/instructions.js";
import { applyChanges } from "./apply-changes.js";
import { builtInTable } from "./built-in-table.js";
import { compileRow } from "./compile.js";
import { ContextsError, MODULE_PATH } from "./contexts-error.js";
import type { UtilityExtension } from "./extension.js";
import {
  type ChoiceOperation,
  choiceOperations,
  type FactoryOperation,
  factoryOperations,
  type InstructionKind,
} from "./operations.js";
import { parseContextsFile, readChange } from "./parse-file.js";
import type { KnownParts } from "./parse-lines.js";
import { namesOf, type Parts, partsWithEntries, partsWithExtension } from "./parts.js";
import type { ContextChange, ContextTable } from "./table.js";

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
  /** Versions by package id, as the operator gives them. */
  readonly packageVersions: ReadonlyMap<string, string>;
  /** The table in force. */
  readonly table: ContextTable;
}

/** Compiles the contexts. `file` is the parsed content of the operator's contexts file. Throws ContextsError. */
export function compileContexts(file: unknown = {}, extension: UtilityExtension = {}): UtilityContexts {
  const problems: Problem[] = [];
  const extended = partsWithExtension(extension, problems);
  const moduleChanges = readModuleChanges(extension, namesOf(extended), problems);
  const { entries, changes, packageVersions } = parseContextsFile(file, namesOf(extended), problems);
  const parts = partsWithEntries(extended, entries, problems);
  const ofModule = applyChanges(builtInTable, moduleChanges, reportTo(problems, [MODULE_PATH, "operations"]));
  const table = applyChanges(ofModule, changes, reportTo(problems, ["changes"]));
  if (problems.length > 0) throw new ContextsError(problems);
  const allocationTemplates = [dvpLegAllocation, ...(extension.allocations ?? [])];
  return {
    ...compileTable(table, parts, packageVersions, allocationTemplates),
    templates: parts.templates,
    allocationTemplates,
    packageVersions,
    table,
  };
}

function readModuleChanges(
  { operations = [] }: UtilityExtension,
  known: KnownParts,
  problems: Problem[],
): ContextChange[] {
  return new ObjectReader({ operations }, [MODULE_PATH], problems)
    .objects("operations")
    .map((reader) => readChange(reader, known));
}

const reportTo = (problems: Problem[], list: Path) => (change: number, reason: string) => {
  const path = [...list, change];
  problems.push({ path, reason: `${formatPath(path)}: ${reason}` });
};

function compileTable(
  table: ContextTable,
  parts: Parts,
  packageVersions: ReadonlyMap<string, string>,
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
