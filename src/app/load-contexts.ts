import type { Config } from "../config/config.js";
import { readSettingFile } from "../config/setting-files.js";
import { SettingError } from "../config/setting.js";
import { checkContexts, compileContexts, ExtensionError, type UtilityContexts } from "../registry/utility/contexts.js";

export const REGISTRY_ACCEPTS = "utility, minimal, or the path of a registry file or a JavaScript module";

export const registryError = (reason: string): SettingError =>
  new SettingError("OFFLEDGER_REGISTRY", REGISTRY_ACCEPTS, reason);

/**
 * The choice contexts in force: those of the Registry Utility with the changes of a module and of the operator's file.
 * Throws SettingError with every problem; nothing is used of a file that has one. `extension` is what the module exports,
 * unchecked.
 */
export async function loadContexts(
  { contexts: path, registry }: Config,
  extension?: unknown,
): Promise<UtilityContexts> {
  try {
    if (path === undefined) return compileContexts({}, extension);
    const accepts = "the path of a YAML file of choice contexts";
    return await readSettingFile("OFFLEDGER_CONTEXTS", accepts, path, (file) => checkContexts(file, extension));
  } catch (error) {
    if (!(error instanceof ExtensionError)) throw error;
    throw registryError(`\n${error.problems.map((problem) => `${registry}: ${problem}`).join("\n")}`);
  }
}
