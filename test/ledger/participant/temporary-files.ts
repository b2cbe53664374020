import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";

/** A temporary folder for the tests of a file, removed afterwards. */
export function temporaryFiles() {
  let folder = "";
  let count = 0;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "offledger-tokens-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  return {
    /** The path of a file that does not exist yet. */
    pathOf: (name: string): string => join(folder, name),
    /** Writes a new file, and returns its path. */
    fileOf: async (content: string): Promise<string> => {
      const path = join(folder, `file-${count++}`);
      await writeFile(path, content);
      return path;
    },
  };
}
