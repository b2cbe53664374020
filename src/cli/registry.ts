import { readFile, stat } from "node:fs/promises";
import { stringify } from "yaml";
import { loadRegistry, loadRegistryFile, loadUtilityContexts, registryFilePath } from "../app/registry.js";
import type { Config } from "../config/config.js";
import type { ContextTable } from "../registry/utility/changes.js";
import type { Condition, LineOptions, OperationRow } from "../registry/utility/definition.js";
import { type CaseResult, parseRegistryTests, runCases } from "../testing/registry-tests.js";
import { errorMessage } from "../util/logger.js";
import { configFailure, EXIT_FAILURE, fail, print, startFailure } from "./output.js";

/**
 * `offledger registry test FILE`: runs the cases of `<name>.test.yaml` beside a registry file or a module. `path` is that of
 * the registry or of its tests.
 */
export async function registryTest(config: Config, path: string): Promise<void> {
  const [, name = path] = /^(.*)\.test\.ya?ml$/.exec(path) ?? [];
  const [registry, tests] = name === path ? [path, `${path.replace(/\.\w+$/, "")}.test.yaml`] : [`${name}.yaml`, path];
  try {
    const noRegistry = await whyUnreadable(registry);
    if (noRegistry !== undefined) return fail(configFailure(`there is no registry to test: ${noRegistry}`));
    const noTests = await whyUnreadable(tests);
    if (noTests !== undefined)
      return fail(configFailure(`${registry} has no tests: write them to ${tests} (${noTests})`));
    const { file, problems } = parseRegistryTests(await readFile(tests));
    if (file === undefined)
      return fail(configFailure(`the tests have mistakes:\n${problems.map((one) => `${tests}:${one}`).join("\n")}`));
    const results = await runCases(await loadRegistry({ ...config, registry }), file);
    print(formatResults(results));
    if (results.some(({ differences }) => differences.length > 0)) process.exitCode = EXIT_FAILURE;
  } catch (error) {
    fail(
      isSystemError(error)
        ? configFailure(`the tests cannot be read: ${errorMessage(error)}`)
        : startFailure(config, error),
    );
  }
}

/** Why a path is no file; undefined if it is one. */
async function whyUnreadable(path: string): Promise<string | undefined> {
  try {
    return (await stat(path)).isDirectory() ? `${path} is a folder` : undefined;
  } catch (error) {
    return errorMessage(error);
  }
}

const isSystemError = (error: unknown): boolean => error instanceof Error && "syscall" in error;

function formatResults(results: readonly CaseResult[]): string {
  const lines = results.flatMap(({ name, differences }) => [
    `${differences.length === 0 ? "ok  " : "FAIL"} ${name}`,
    ...differences.map((difference) => `     ${difference}`),
  ]);
  const passed = results.filter(({ differences }) => differences.length === 0).length;
  return [...lines, "", `${passed} of ${results.length} cases pass`, ""].join("\n");
}

/** `offledger contexts`: prints the table of operations in force. */
export async function contexts(config: Config): Promise<void> {
  try {
    const path = registryFilePath(config);
    if (path === undefined) print(formatContexts((await loadUtilityContexts(config)).table));
    else print(stringify(await loadRegistryFile(path)));
  } catch (error) {
    fail(startFailure(config, error));
  }
}

/** The table of operations for an auditor: operations with the same row stand together. */
export function formatContexts(table: ContextTable): string {
  const namesByRow = new Map<string, string[]>();
  for (const [name, row] of Object.entries<OperationRow>(table)) {
    const text = formatRow(row);
    namesByRow.set(text, [...(namesByRow.get(text) ?? []), name]);
  }
  return Array.from(namesByRow, ([row, names]) => `${names.join("\n")}\n${row}`).join("\n");
}

function formatRow({ entries, disclosures, needsBlocklist }: OperationRow): string {
  const coversBlocklist = [...entries, ...disclosures].some(({ when }) => when === "checkBlocklist");
  const lines = [
    ...entries.flatMap(({ entry, keys: [first = "", ...others], ...options }) => [
      `  ${first}${formatOptions(`/${first}`.endsWith(`/${entry}`) ? [] : [`entry ${entry}`], options)}`,
      ...others.map((key) => `  ${key} (the same value)`),
    ]),
    ...(entries.length === 0 ? ["  no entries"] : []),
    ...disclosures.map(({ disclosure, ...options }) => `  discloses ${disclosure}${formatOptions([], options)}`),
    ...(needsBlocklist && !coversBlocklist
      ? ["  instruments with checkBlocklist: 400, no blocklist is configured"]
      : []),
  ];
  return lines.map((line) => `${line}\n`).join("");
}

/** What follows a key or a disclosure, in parentheses: `first`, whether the line is required, and its condition. */
function formatOptions(first: readonly string[], { required, requiredWhen, when }: LineOptions): string {
  const parts = [
    ...first,
    ...(required ? [requiredWhen === undefined ? "required" : `required when ${formatCondition(requiredWhen)}`] : []),
    ...(when === undefined ? [] : [`when ${formatCondition(when)}`]),
  ];
  return parts.length === 0 ? "" : ` (${parts.join(", ")})`;
}

function formatCondition(condition: Condition): string {
  if (typeof condition === "string") return condition;
  const { package: name, from, before } = condition;
  return [
    name,
    ...(from === undefined ? [] : [`from ${from}`]),
    ...(before === undefined ? [] : [`before ${before}`]),
  ].join(" ");
}
