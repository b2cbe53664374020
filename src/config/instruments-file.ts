/** The operator's instruments file: YAML, instruments by registrar and id. docs/instruments.md has an example. */
import { readFile } from "node:fs/promises";
import { type InstrumentEntry, readInstrumentEntry } from "./instrument-entry.js";
import { SettingError } from "./setting-error.js";
import { YamlDocument } from "./yaml-document.js";

/** By registrar and instrument id. */
export type InstrumentEntries = ReadonlyMap<string, ReadonlyMap<string, InstrumentEntry>>;

/** Reads the file; empty without a path. Throws SettingError with every problem, its line and its key. */
export async function readInstruments(path: string | undefined): Promise<InstrumentEntries> {
  if (path === undefined) return new Map();
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    throw settingError(error instanceof Error ? error.message : String(error));
  }
  const { entries, problems } = parseInstruments(text);
  if (problems.length > 0) throw settingError(`\n${problems.map((problem) => `${path}:${problem}`).join("\n")}`);
  return entries;
}

const settingError = (reason: string) =>
  new SettingError("OFFLEDGER_INSTRUMENTS", "the path of a YAML file of instruments", reason);

/** Parses the file's content. Each problem begins with its line. */
export function parseInstruments(text: string): {
  readonly entries: InstrumentEntries;
  readonly problems: readonly string[];
} {
  const document = new YamlDocument(text);
  const entries = new Map<string, Map<string, InstrumentEntry>>();
  const { problems, root } = document;
  if (problems.length > 0 || root === null) return { entries, problems };
  for (const [registrar, instruments] of document.entries(root, "the file", "registrars")) {
    const ofRegistrar = new Map<string, InstrumentEntry>();
    entries.set(registrar, ofRegistrar);
    for (const [id, node] of document.entries(instruments, registrar, "instruments")) {
      ofRegistrar.set(id, readInstrumentEntry(document, node, `${registrar}.${id}`));
    }
  }
  return { entries, problems };
}
