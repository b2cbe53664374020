/** Reads the parts that contexts.yaml, the operator's file and modules have in common. */
import { type ObjectReader, quote } from "../../../../util/object-reader.js";
import { type Operation, operations } from "../operations.js";
import { readCondition } from "./condition.js";
import { type DisclosureLine, type EntryLine, keysOf } from "../table.js";

/** The names that a line may use. */
export interface KnownParts {
  readonly entries: ReadonlySet<string>;
  readonly disclosures: ReadonlySet<string>;
}

/** Visible ASCII without spaces, as every known key. */
const KEY = /^[!-~]{1,200}$/;

const ENTRY_NAME = /^[a-z][a-z0-9-]{0,99}$/;

/** Whether the operator or a module may give an entry this name. */
export const isEntryName = (name: string): boolean => ENTRY_NAME.test(name);

/** Names of operations; `transfer-instruction/*` stands for all that begin so, `*` for all. */
export function readOperations(reader: ObjectReader): readonly Operation[] {
  const found = reader.texts("operations").flatMap(({ text, index }) => {
    const matching = operations.filter((known) => known === text || matchesWildcard(text, known));
    if (matching.length === 0) {
      const known = operations.join(", ");
      reader.report(["operations", index], `must be an operation, but is ${quote(text)}; operations: ${known}`);
    }
    return matching;
  });
  if (reader.isEmpty("operations")) reader.report(["operations"], "must have at least one operation");
  return [...new Set(found)];
}

const matchesWildcard = (pattern: string, name: string): boolean =>
  pattern.endsWith("*") && name.startsWith(pattern.slice(0, -1));

/** A line of entries: `{entry, keys, required, when}`. Undefined if its name has a problem. */
export function readEntryLine(reader: ObjectReader, known: KnownParts): EntryLine | undefined {
  const entry = reader.oneOf("entry", [...known.entries]);
  const keys = readKeys(reader, entry ?? "");
  const options = readOptions(reader);
  reader.rejectUnknown();
  return entry === undefined ? undefined : { entry, keys, ...options };
}

/** A line of disclosures: `{disclosure, required, when}`. Undefined if its name has a problem. */
export function readDisclosureLine(reader: ObjectReader, known: KnownParts): DisclosureLine | undefined {
  const disclosure = reader.oneOf("disclosure", [...known.disclosures]);
  const options = readOptions(reader);
  reader.rejectUnknown();
  return disclosure === undefined ? undefined : { disclosure, ...options };
}

function readOptions(reader: ObjectReader) {
  const required = reader.optionalBoolean("required") ?? false;
  return { required, requiredWhen: undefined, when: readCondition(reader) };
}

/** `prefixed`, the default, `both`, or a list of keys in full. */
function readKeys(reader: ObjectReader, entry: string): readonly string[] {
  const value = reader.raw("keys");
  if (value === undefined) return keysOf(entry, "prefixed");
  if (value === "prefixed" || value === "both") return keysOf(entry, value);
  if (!Array.isArray(value) || value.length === 0) {
    reader.wrong("keys", "prefixed, both, or a list of at least one key");
    return [];
  }
  const keys = reader.texts("keys");
  for (const { text, index } of keys) {
    const path = ["keys", index];
    if (!KEY.test(text))
      reader.report(path, `must be 1 to 200 visible ASCII characters without spaces, but is ${quote(text)}`);
    if (keys.some((other) => other.text === text && other.index < index))
      reader.report(path, `must be given once, but ${quote(text)} is there twice`);
  }
  return keys.map(({ text }) => text);
}
