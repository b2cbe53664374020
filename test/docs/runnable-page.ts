/** Runs the code blocks of a page as they stand, in the order of the page. */
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { JsonValue } from "@bufbuild/protobuf";
import { expect } from "vitest";
import { expandShortened, shortenLike } from "./shortened.js";

export interface Block {
  readonly language: string;
  readonly text: string;
}

/** The code blocks below a heading of the second level. */
export function blocksOf(page: string, heading: string): Block[] {
  const section = page.split(/^## /m).find((part) => part.startsWith(`${heading}\n`));
  if (section === undefined) throw new Error(`the page has no section "${heading}"`);
  return [...section.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language = "", text = ""]) => ({
    language,
    text,
  }));
}

/** The address of pages, in place of which tests use a free port. */
const ADDRESS = "http://localhost:8080";
/** For installations on a loaded machine. */
const COMMAND_TIMEOUT_MS = 300_000;

/** Runs commands in a folder. Throws with their output if one fails. */
export async function runShell(commands: string, cwd: string): Promise<string> {
  const limits = { timeout: COMMAND_TIMEOUT_MS, maxBuffer: 16 * 1024 * 1024 };
  try {
    const { stdout } = await promisify(execFile)("sh", ["-e", "-c", commands], { cwd, ...limits });
    return stdout;
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    throw new Error(`commands failed in ${cwd}:\n${commands}\n${stdout}${stderr}`, { cause: error });
  }
}

/**
 * Writes `ts` blocks to the files that their first lines name, runs `sh` blocks, and compares each `text` and `json`
 * block with what the commands before it printed. Returns the number of comparisons.
 */
export async function runBlocks(blocks: readonly Block[], cwd: string, url: string): Promise<number> {
  let printed = "";
  let compared = 0;
  for (const { language, text } of blocks) {
    switch (language) {
      case "ts":
        await writeFile(join(cwd, fileOf(text)), text.replaceAll(ADDRESS, url));
        break;
      case "sh":
        printed = await runShell(text.replaceAll(ADDRESS, url), cwd);
        break;
      case "text":
        expect(shortenLike(text, printed)).toBe(text);
        compared += 1;
        break;
      case "json":
        expect(JSON.parse(printed)).toEqual(expandShortened(JSON.parse(text) as JsonValue));
        compared += 1;
        break;
      default:
        throw new Error(`a block must be ts, sh, text or json, but is "${language}": ${text}`);
    }
  }
  return compared;
}

function fileOf(text: string): string {
  const [, name] = /^\/\/ (\w+\.ts)\n/.exec(text) ?? [];
  if (name === undefined) throw new Error(`the first line must name the file, as in "// wallet.ts": ${text}`);
  return name;
}
