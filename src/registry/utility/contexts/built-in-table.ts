import type { Problem } from "../../../util/object-reader.js";
import { readPackageFile } from "../../../util/package-file.js";
import { parseYaml } from "../../../util/yaml.js";
import { builtInDisclosures, builtInEntries } from "../entries.js";
import { parseTable } from "./parse/table.js";
import type { ContextTable } from "./table.js";

/** The table of contexts.yaml. */
export const builtInTable: ContextTable = readTable();

function readTable(): ContextTable {
  const { value, errors, positionOf } = parseYaml(readPackageFile("#contexts.yaml"));
  const problems: Problem[] = [];
  const known = {
    entries: new Set(Object.keys(builtInEntries)),
    disclosures: new Set(Object.keys(builtInDisclosures)),
  };
  const table = parseTable(value, known, problems);
  if (errors.length + problems.length > 0) {
    const all = [
      ...errors,
      ...problems.map(({ path, reason }) => ({ line: positionOf(path.slice(1)).line, message: reason })),
    ];
    throw new Error(all.map(({ line, message }) => `contexts.yaml:${line}: ${message}`).join("\n"));
  }
  return table;
}
