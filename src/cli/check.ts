import { readFile } from "node:fs/promises";
import { checkParticipant } from "../app/check-participant.js";
import { checkSnapshot } from "../app/check-snapshot.js";
import type { Config } from "../config/config.js";
import { snapshotPath } from "../app/source-options.js";
import type { Inventory } from "../registry/sdk/registry.js";
import { isInformation } from "../registry/sdk/warnings.js";
import { LedgerError } from "../ledger/participant/errors.js";
import { checkFailure, EXIT_FAILURE, fail, messageOf, participantFailure, snapshotFailure } from "./failure.js";
import { formatParticipantCheck, formatSnapshotCheck, print } from "./output.js";

/** Prints what a file or a participant would serve, or its problems. Fails for problems and for warnings. */
export function check(config: Config): Promise<void> {
  return config.ledgerUrl === undefined ? checkFile(config) : checkLedger(config, config.ledgerUrl);
}

const needsAction = ({ warnings }: Inventory): boolean =>
  warnings.some((warning) => typeof warning === "string" || !isInformation(warning.kind));

async function checkFile(config: Config): Promise<void> {
  const path = snapshotPath(config);
  let content: string;
  try {
    content = await readFile(path, "utf8");
  } catch (error) {
    return fail(snapshotFailure(` ${messageOf(error)}`));
  }
  try {
    const { snapshot, inventory } = await checkSnapshot(config, content, Date.now());
    print(formatSnapshotCheck(path, snapshot, inventory));
    if (inventory === undefined || needsAction(inventory)) process.exitCode = EXIT_FAILURE;
  } catch (error) {
    fail(checkFailure(error));
  }
}

async function checkLedger(config: Config, url: URL): Promise<void> {
  try {
    const result = await checkParticipant(config, Date.now());
    print(formatParticipantCheck(result));
    const { snapshot, inventory } = result;
    if (needsAction(inventory) || snapshot.unreadable.length > 0) process.exitCode = EXIT_FAILURE;
  } catch (error) {
    fail(error instanceof LedgerError ? participantFailure(url, error) : checkFailure(error));
  }
}
