/** The contexts file that brings back `app-reward-configuration` and `featured-app-right`, dropped by release 0.12. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** The entries that deployed registries gave before release 0.12. */
export const droppedEntries = ["app-reward-configuration", "featured-app-right"] as const;

/** Whether a key names an entry that release 0.12 dropped. */
export const isDropped = (key: string): boolean =>
  droppedEntries.some((entry) => key === entry || key === `utility.digitalasset.com/${entry}`);

/** Writes the file and returns its path. The test removes it when it ends. */
export async function rewardsFile(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "offledger-test-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  const path = join(directory, "contexts.yaml");
  await writeFile(path, "changes:\n  - rewards: true\n");
  return path;
}
