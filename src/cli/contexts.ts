import { stringify } from "yaml";
import { loadRegistryFile, loadUtilityContexts, registryFilePath } from "../app/load-registry.js";
import type { Config } from "../config/config.js";
import { fail, startFailure } from "./failure.js";
import { formatContexts } from "./format/contexts.js";
import { print } from "./output.js";

/** Prints the table of operations in force. */
export async function contexts(config: Config): Promise<void> {
  try {
    const path = registryFilePath(config);
    if (path === undefined) print(formatContexts((await loadUtilityContexts(config)).table));
    else print(stringify(await loadRegistryFile(path)));
  } catch (error) {
    fail(startFailure(config, error));
  }
}
