import { readFile, stat } from "node:fs/promises";
import { stringify } from "yaml";
import { loadOperations, loadRegistry } from "../app/registry.js";
import type { Config } from "../config/config.js";
import type { Table, TableLine } from "../registry/engine/table-types.js";
import { isExit } from "../registry/operation-names.js";
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

/** `offledger contexts`: prints the operations in force, as a file would have them. */
export async function contexts(config: Config): Promise<void> {
  try {
    print(formatOperations(await loadOperations(config)));
  } catch (error) {
    fail(startFailure(config, error));
  }
}

/** Every operation, with what is left out of a line that says the default. */
export function formatOperations(rows: Table["rows"]): string {
  const operations = Object.entries(rows).map(([operation, { lines }]) => {
    const standard = isExit(operation) ? "omit" : "refuse";
    return [operation, lines.map((line) => writtenLine(line, standard))] as const;
  });
  return stringify({ operations: Object.fromEntries(operations) }, { aliasDuplicateObjects: false, lineWidth: 0 });
}

/** A list of one is the one. */
const shorten = <T>(values: readonly T[]): T | readonly T[] | undefined => (values.length > 1 ? values : values[0]);

/** A line as a file has it. */
function writtenLine({ kind, name, keys, missing, constant, ...line }: TableLine, standard: string): object {
  return {
    [kind]: constant ?? name,
    ...(keys.length > 0 && { key: shorten(keys) }),
    ...((kind === "entry" || kind === "disclosure") && missing !== standard && { missing }),
    ...(line.of !== undefined && { of: line.of }),
    ...(line.disclose !== undefined && { disclose: line.disclose }),
    ...(line.if.length > 0 && { if: shorten(line.if) }),
    ...(line.unless.length > 0 && { unless: shorten(line.unless) }),
  };
}
