import { stringify } from "yaml";
import { isRegistryFile, loadRegistryFile, loadUtilityContexts } from "../app/load-registry.js";
import type { Config } from "../config/config.js";
import { fail, startFailure } from "./failure.js";
import { formatContexts } from "./format/contexts.js";
import { print } from "./output.js";

/** Prints the table of operations in force. */
export async function contexts(config: Config): Promise<void> {
  try {
    if (isRegistryFile(config)) print(stringify(await loadRegistryFile(config.registry)));
    else print(formatContexts((await loadUtilityContexts(config)).table));
  } catch (error) {
    fail(startFailure(config, error));
  }
}
