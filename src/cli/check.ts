import { readFile } from "node:fs/promises";
import { checkSnapshot } from "../app/check-snapshot.js";
import type { Config } from "../config/config.js";
import { snapshotPath } from "../app/source-options.js";
import { configFailure, EXIT_FAILURE, fail, messageOf, snapshotFailure, startFailure } from "./failure.js";
import { formatCheck, print } from "./output.js";

/** Prints what a snapshot file would serve, or its problems. Fails for problems and for warnings. */
export async function check(config: Config): Promise<void> {
  if (config.ledgerUrl !== undefined) {
    return fail(configFailure("offledger check reads a file: unset OFFLEDGER_LEDGER_URL"));
  }
  const path = snapshotPath(config);
  let content: string;
  try {
    content = await readFile(path, "utf8");
  } catch (error) {
    return fail(snapshotFailure(` ${messageOf(error)}`));
  }
  try {
    const { snapshot, inventory } = await checkSnapshot(config, content);
    print(formatCheck(path, snapshot, inventory));
    if (inventory === undefined || inventory.warnings.length > 0) process.exitCode = EXIT_FAILURE;
  } catch (error) {
    fail(startFailure(config, error));
  }
}
