import { readFile } from "node:fs/promises";
import { loadRegistry } from "../app/load-registry.js";
import type { Config } from "../config/config.js";
import { type CaseResult, parseRegistryTests, runCases } from "../testing/registry-tests.js";
import { configFailure, EXIT_FAILURE, fail, messageOf, startFailure } from "./failure.js";
import { print } from "./output.js";

/**
 * `offledger registry test FILE`: runs the cases of `<name>.test.yaml` beside a registry file or a module. `path` is that of
 * the registry or of its tests.
 */
export async function registryTest(config: Config, path: string): Promise<void> {
  const [, name = path] = /^(.*)\.test\.ya?ml$/.exec(path) ?? [];
  const [registry, tests] = name === path ? [path, `${path.replace(/\.\w+$/, "")}.test.yaml`] : [`${name}.yaml`, path];
  try {
    const { file, problems } = parseRegistryTests(await readFile(tests));
    if (file === undefined)
      return fail(configFailure(`the tests have mistakes:\n${problems.map((one) => `${tests}:${one}`).join("\n")}`));
    const results = await runCases(await loadRegistry({ ...config, registry }), file);
    print(formatResults(results));
    if (results.some(({ differences }) => differences.length > 0)) process.exitCode = EXIT_FAILURE;
  } catch (error) {
    fail(
      isSystemError(error)
        ? configFailure(`the tests cannot be read: ${messageOf(error)}`)
        : startFailure(config, error),
    );
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
