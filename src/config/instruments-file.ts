/** The operator's instruments file: YAML, instruments by registrar and id. docs/instruments.md has an example. */
import { readFile } from "node:fs/promises";
import { isScalar, type Node } from "yaml";
import { SettingError } from "./setting-error.js";
import { YamlDocument } from "./yaml-document.js";

export interface InstrumentEntry {
  readonly name?: string;
  readonly symbol?: string;
  /** 0 to 10. */
  readonly decimals?: number;
  readonly description?: string;
}

/** By registrar and instrument id. */
export type InstrumentEntries = ReadonlyMap<string, ReadonlyMap<string, InstrumentEntry>>;

/** The scale of a Daml Decimal. */
const MAX_DECIMALS = 10;

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
      ofRegistrar.set(id, readEntry(document, node, `${registrar}.${id}`));
    }
  }
  return { entries, problems };
}

/** Returns undefined for a wrong value, after reporting it. */
type FieldReader = (document: YamlDocument, node: Node, path: string) => string | number | undefined;

const readText: FieldReader = (document, node, path) => {
  if (isScalar(node) && typeof node.value === "string" && node.value.trim() !== "") return node.value;
  const hint = isScalar(node) && node.value !== null ? "; quote text that looks like another type" : "";
  return document.report(node, `${path} must be a non-empty string${hint}`);
};

const readDecimals: FieldReader = (document, node, path) => {
  const value = isScalar(node) ? node.value : undefined;
  if (typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MAX_DECIMALS) return value;
  return document.report(node, `${path} must be an integer from 0 to ${MAX_DECIMALS}`);
};

const fields = new Map<string, FieldReader>([
  ["name", readText],
  ["symbol", readText],
  ["decimals", readDecimals],
  ["description", readText],
]);
const fieldNames = [...fields.keys()].join(", ");

function readEntry(document: YamlDocument, node: Node, path: string): InstrumentEntry {
  const entry: Record<string, string | number> = {};
  for (const [name, value] of document.entries(node, path, fieldNames)) {
    const read = fields.get(name);
    if (read === undefined) {
      document.report(value, `${path}.${name} is not a known field; known fields: ${fieldNames}`);
      continue;
    }
    const parsed = read(document, value, `${path}.${name}`);
    if (parsed !== undefined) entry[name] = parsed;
  }
  return entry;
}
