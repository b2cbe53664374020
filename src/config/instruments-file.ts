/**
 * The file in which an operator names instruments: YAML, registrar by registrar
 * and instrument by instrument, with `name`, `symbol`, `decimals` and
 * `description`, each of them optional. docs/instruments.md shows one.
 */
import { readFile } from "node:fs/promises";
import {
  isAlias,
  isMap,
  isScalar,
  LineCounter,
  type Node,
  parseDocument,
  type ParsedNode,
  Scalar,
  type YAMLMap,
} from "yaml";
import { SettingError } from "./setting-error.js";

/** What the file says of one instrument. */
export interface InstrumentEntry {
  readonly name?: string;
  readonly symbol?: string;
  /** 0 to 10. */
  readonly decimals?: number;
  readonly description?: string;
}

/** By registrar and instrument id. */
export type InstrumentEntries = ReadonlyMap<string, ReadonlyMap<string, InstrumentEntry>>;

/** The places of a Daml Decimal. */
const MOST_DECIMALS = 10;

/** Reads the file; of undefined there is nothing to say. Throws SettingError with every mistake, its line and its key. */
export async function readInstruments(path: string | undefined): Promise<InstrumentEntries> {
  if (path === undefined) return new Map();
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    throw wrong(error instanceof Error ? error.message : String(error));
  }
  const { entries, problems } = parseInstruments(text);
  if (problems.length > 0) throw wrong(`\n${problems.map((problem) => `${path}:${problem}`).join("\n")}`);
  return entries;
}

/** Parses the content. Each problem begins with its line. */
export function parseInstruments(text: string): {
  readonly entries: InstrumentEntries;
  readonly problems: readonly string[];
} {
  const reader = new Reader(text);
  return { entries: reader.entries(), problems: reader.problems };
}

const wrong = (reason: string) =>
  new SettingError("OFFLEDGER_INSTRUMENTS", "the path of a YAML file that names instruments", reason);

/** Reads one field; undefined where it is wrong, which has been told then. */
type FieldReader = (reader: Reader, node: Node | null, key: string) => string | number | undefined;

const text: FieldReader = (reader, node, key) => {
  if (isScalar(node) && typeof node.value === "string" && node.value.trim() !== "") return node.value;
  return reader.tell(
    node,
    `${key} has to be a text that is not empty${isScalar(node) && node.value !== null ? ", in quotes where it looks like something else" : ""}`,
  );
};

const decimals: FieldReader = (reader, node, key) => {
  const value = isScalar(node) ? node.value : undefined;
  if (typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MOST_DECIMALS) return value;
  return reader.tell(node, `${key} has to be a whole number from 0 to ${MOST_DECIMALS}`);
};

const fields: Readonly<Record<string, FieldReader>> = { name: text, symbol: text, decimals, description: text };

class Reader {
  readonly problems: string[] = [];
  readonly #lines = new LineCounter();
  readonly #document;

  constructor(content: string) {
    this.#document = parseDocument(content, { lineCounter: this.#lines, prettyErrors: false });
    for (const { pos, message } of this.#document.errors)
      this.problems.push(`${this.#lines.linePos(pos[0]).line}: ${message}`);
  }

  entries(): Map<string, Map<string, InstrumentEntry>> {
    const found = new Map<string, Map<string, InstrumentEntry>>();
    const { contents } = this.#document;
    if (this.problems.length > 0 || isEmpty(contents)) return found;
    for (const [registrar, instruments] of this.#items(contents, "the file", "registrars")) {
      const ofRegistrar = new Map<string, InstrumentEntry>();
      found.set(registrar, ofRegistrar);
      for (const [id, words] of this.#items(instruments, registrar, "instruments")) {
        ofRegistrar.set(id, this.#entry(words, `${registrar}.${id}`));
      }
    }
    return found;
  }

  #entry(node: Node, path: string): InstrumentEntry {
    const entry: Record<string, string | number> = {};
    for (const [name, value] of this.#items(node, path, Object.keys(fields).join(", "))) {
      const read = Object.hasOwn(fields, name) ? fields[name] : undefined;
      if (read === undefined) {
        this.tell(value, `${path}.${name} is not known; there are ${Object.keys(fields).join(", ")}`);
        continue;
      }
      const found = read(this, value, `${path}.${name}`);
      if (found !== undefined) entry[name] = found;
    }
    return entry;
  }

  /** The entries of a map with their keys as texts, each once. In place of a value that is not there stands its key. */
  *#items(node: Node | null, path: string, holds: string): Generator<[name: string, value: Node]> {
    if (!isMap(node)) return this.tell(node, `${path} has to be a map of ${holds}`);
    const names = new Set<string>();
    for (const { key, value } of (node as YAMLMap.Parsed).items) {
      if (!isScalar(key) || key.value === null) {
        this.tell(key, `${path} has a key that is no text`);
      } else if (names.has(key.source)) {
        this.tell(key, `${path}.${key.source} stands there twice`);
      } else {
        names.add(key.source);
        yield [key.source, this.#resolved(value) ?? absentAt(key)];
      }
    }
  }

  /** What an alias stands for; the line told is then that of its anchor. */
  #resolved(node: ParsedNode | null): Node | undefined {
    return (isAlias(node) ? node.resolve(this.#document) : node) ?? undefined;
  }

  /** Notes what is wrong with a node. */
  tell(node: Node | null, problem: string): undefined {
    this.problems.push(`${this.#lines.linePos(node?.range?.[0] ?? 0).line}: ${problem}`);
    return undefined;
  }
}

const isEmpty = (node: Node | null): boolean => node === null || (isScalar(node) && node.value === null);

/** A value that is not there, at the place of its key. */
function absentAt(key: Node): Scalar<null> {
  const absent = new Scalar(null);
  if (key.range) absent.range = key.range;
  return absent;
}
