import { readFile } from "node:fs/promises";
import type { Config } from "../config/config.js";
import { SettingError } from "../config/setting-error.js";
import { compileContexts, type UtilityContexts } from "../registry/utility/contexts/contexts.js";
import { ContextsError, MODULE_PATH } from "../registry/utility/contexts/contexts-error.js";
import type { UtilityExtension } from "../registry/utility/contexts/extension.js";
import { type ParsedYaml, parseYaml } from "../util/yaml.js";

/**
 * The choice contexts in force: those of the Registry Utility with the changes of a module and of the operator's file.
 * Throws SettingError with every problem, its line and its path; nothing is used of a file that has one.
 */
export async function loadContexts({ contexts: path }: Config, extension?: UtilityExtension): Promise<UtilityContexts> {
  const yaml = path === undefined ? parseYaml("") : await readYaml(path);
  try {
    return compileContexts(yaml.value, extension);
  } catch (error) {
    if (!(error instanceof ContextsError)) throw error;
    const ofModule = error.problems.filter((problem) => problem.path[0] === MODULE_PATH);
    if (ofModule.length > 0) throw moduleError(ofModule.map(({ reason }) => reason));
    throw fileError(error.problems.map((problem) => `${path}:${yaml.lineOf(problem.path)}: ${problem.reason}`));
  }
}

async function readYaml(path: string): Promise<ParsedYaml> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    throw fileError([error instanceof Error ? error.message : String(error)]);
  }
  const yaml = parseYaml(text);
  if (yaml.errors.length > 0) throw fileError(yaml.errors.map(({ line, message }) => `${path}:${line}: ${message}`));
  return yaml;
}

const fileError = (problems: readonly string[]) =>
  new SettingError("OFFLEDGER_CONTEXTS", "the path of a YAML file of choice contexts", `\n${problems.join("\n")}`);

const moduleError = (problems: readonly string[]) =>
  new SettingError(
    "OFFLEDGER_REGISTRY",
    "utility, minimal, or the path of a JavaScript module",
    `\n${problems.join("\n")}`,
  );
