/** Reads the parts that contexts.yaml, the operator's file and modules have in common. */
import type { ObjectReader } from "../../../util/object-reader.js";
import { type Condition, type DisclosureLine, type EntryLine, keysOf } from "./table.js";
import { type Operation, operations } from "./operations.js";
import { isVersion } from "./versions.js";

/** The names that a line may use. */
export interface KnownParts {
  readonly entries: ReadonlySet<string>;
  readonly disclosures: ReadonlySet<string>;
}

const NAMED_CONDITIONS = ["checkBlocklist", "severalInstruments"] as const;
const MAX_KEY_LENGTH = 200;

/** Names of operations; `transfer-instruction/*` stands for all that begin so, `*` for all. */
export function readOperations(reader: ObjectReader): readonly Operation[] {
  const found = reader.texts("operations").flatMap((name, index) => {
    const matching = operations.filter((known) => known === name || matchesWildcard(name, known));
    if (matching.length === 0)
      reader.report(
        "operations",
        `[${index}] "${name}" is not an operation; known operations: ${operations.join(", ")}`,
      );
    return matching;
  });
  return [...new Set(found)];
}

const matchesWildcard = (pattern: string, name: string): boolean =>
  pattern.endsWith("*") && name.startsWith(pattern.slice(0, -1));

/** A line of entries: `{entry, keys, required, when}`. Undefined if it has problems. */
export function readEntryLine(reader: ObjectReader, known: KnownParts): EntryLine | undefined {
  const entry = reader.text("entry");
  if (entry !== undefined && !known.entries.has(entry)) reader.wrong("entry", oneOf(known.entries));
  const keys = readKeys(reader, entry ?? "");
  const options = readOptions(reader);
  reader.rejectUnknown();
  return entry === undefined ? undefined : { entry, keys, ...options };
}

/** A line of disclosures: `{disclosure, required, when}`. Undefined if it has problems. */
export function readDisclosureLine(reader: ObjectReader, known: KnownParts): DisclosureLine | undefined {
  const disclosure = reader.text("disclosure");
  if (disclosure !== undefined && !known.disclosures.has(disclosure))
    reader.wrong("disclosure", oneOf(known.disclosures));
  const options = readOptions(reader);
  reader.rejectUnknown();
  return disclosure === undefined ? undefined : { disclosure, ...options };
}

function readOptions(reader: ObjectReader) {
  const required = reader.optionalBoolean("required") ?? false;
  return { required, requiredWhen: undefined, when: readCondition(reader) };
}

function readKeys(reader: ObjectReader, entry: string): readonly string[] {
  const keys = reader.raw("keys");
  if (!Array.isArray(keys)) return keysOf(entry, reader.optionalOneOf("keys", ["prefixed", "both"]) ?? "prefixed");
  const texts = reader.texts("keys");
  if (texts.length === 0) reader.wrong("keys", "prefixed, both, or a list of keys");
  if (new Set(texts).size < texts.length) reader.report("keys", "has a key twice");
  for (const key of texts)
    if (key.length > MAX_KEY_LENGTH) reader.report("keys", `has a key of more than ${MAX_KEY_LENGTH} characters`);
  return texts;
}

/** The condition in the field `when`; undefined if there is none. */
export function readCondition(reader: ObjectReader): Condition | undefined {
  if (!reader.has("when")) return undefined;
  const value = reader.raw("when");
  const named = NAMED_CONDITIONS.find((name) => name === value);
  if (named !== undefined) return named;
  if (typeof value !== "object") return reader.wrong("when", `${NAMED_CONDITIONS.join(", ")}, or a map with a package`);
  const fields = reader.object("when");
  const name = fields.text("package");
  const [from, before] = [readVersion(fields, "from"), readVersion(fields, "before")];
  if (from === undefined && before === undefined && !fields.has("from") && !fields.has("before"))
    reader.wrong("when", "a package with from, before or both");
  fields.rejectUnknown();
  return name === undefined ? undefined : { package: name, from, before };
}

function readVersion(reader: ObjectReader, name: string): string | undefined {
  const text = reader.optionalText(name);
  if (text === undefined || isVersion(text)) return text;
  return reader.wrong(name, 'a version such as "0.7.0"');
}

const oneOf = (names: ReadonlySet<string>): string => `one of ${[...names].join(", ")}`;
