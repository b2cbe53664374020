import type { Problem } from "../../../util/object-reader.js";
import { readPackageFile } from "../../../util/package-file.js";
import { parseYaml } from "../../../util/yaml.js";
import { builtInDisclosures, builtInEntries } from "../entries/index.js";
import { ContextsError } from "./contexts-error.js";
import { parseTable } from "./parse-table.js";
import type { ContextTable } from "./table.js";

/** The table of contexts.yaml. */
export const builtInTable: ContextTable = readTable();

function readTable(): ContextTable {
  const { value, errors } = parseYaml(readPackageFile("#contexts.yaml"));
  const problems: Problem[] = errors.map(({ line, message }) => ({
    path: [],
    reason: `contexts.yaml:${line}: ${message}`,
  }));
  const known = {
    entries: new Set(Object.keys(builtInEntries)),
    disclosures: new Set(Object.keys(builtInDisclosures)),
  };
  const table = parseTable(value, known, problems);
  if (problems.length > 0) throw new ContextsError(problems);
  return table;
}
