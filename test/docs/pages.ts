/** The pages of the documentation: their code blocks, which tests run, and output in which "…" stands for the rest of a string. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { JsonValue } from "@bufbuild/protobuf";
import { expect } from "vitest";

interface Block {
  readonly language: string;
  readonly text: string;
}

/** A page, or the part of it that begins with a text. */
export class Page {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  static read(path: string): Page {
    return new Page(readFileSync(path, "utf8"));
  }

  /** What is below a heading of the second level. */
  section(heading: string): Page {
    const found = this.text.split(/^## /m).find((part) => part.startsWith(`${heading}\n`));
    if (found === undefined) throw new Error(`the page has no section "${heading}"`);
    return new Page(found);
  }

  /** The page from a text on. */
  from(text: string): Page {
    const at = this.text.indexOf(text);
    if (at === -1) throw new Error(`the page has no "${text}"`);
    return new Page(this.text.slice(at));
  }

  get blocks(): Block[] {
    return [...this.text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language = "", text = ""]) => ({
      language,
      text,
    }));
  }

  /** The blocks of a language, in order. */
  in(language: string): string[] {
    return this.blocks.filter((block) => block.language === language).map(({ text }) => text);
  }

  /** The first block of a language that starts with a text. */
  block(language: string, start = ""): string {
    const found = this.in(language).find((text) => text.startsWith(start));
    if (found === undefined) throw new Error(`the page has no block ${language} "${start}"`);
    return found;
  }
}

/** The path and the body of a request by curl. */
export function requestOf(command: string): { readonly path: string; readonly body: string } {
  const [, path = ""] = /http:\/\/localhost:8080(\S+)/.exec(command) ?? [];
  const [, body = ""] = /-d '([^']+)'/.exec(command) ?? [];
  return { path, body };
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

/** Replaces shortened strings, which end in "…", by matchers of their beginning. */
export function expandShortened(value: JsonValue): unknown {
  if (typeof value === "string" && value.endsWith("…")) return startsWith(value.slice(0, -1));
  if (Array.isArray(value)) return value.map(expandShortened);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, expandShortened(inner)]));
}

const startsWith = (text: string): unknown => expect.stringMatching(new RegExp(`^${text.replaceAll(/[+/]/g, "\\$&")}`));

/** Shortens the lines of a text where the lines that a page shows are shortened, in the middle of ids. */
export function shortenLike(shown: string, text: string): string {
  const shownLines = shown.split("\n");
  return text
    .split("\n")
    .map((line, index) => {
      const shownLine = shownLines[index] ?? "";
      const parts = shownLine.split("…").map((part) => part.replaceAll(/[^\w\s]/g, String.raw`\$&`));
      return new RegExp(`^${parts.join("[0-9a-f]+")}$`).test(line) ? shownLine : line;
    })
    .join("\n");
}
