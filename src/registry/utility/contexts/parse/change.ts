import { type ObjectReader, quote } from "../../../../util/object-reader.js";
import { operations } from "../operations.js";
import { readCondition } from "./condition.js";
import { type KnownParts, readDisclosureLine, readEntryLine, readOperations } from "./lines.js";
import type { Condition, ContextChange, DisclosureLine, EntryLine } from "../table.js";

/** Reads one change: `{operations, when, add, remove, credentials, rewards, keys}`. */
export function readChange(reader: ObjectReader, known: KnownParts): ContextChange {
  const named = reader.has("operations") ? readOperations(reader) : operations;
  const when = readCondition(reader);
  const add = reader.objects("add").flatMap((line) => readLine(line, known, when) ?? []);
  const remove = readRemoved(reader, known);
  const credentials = reader.optionalOneOf("credentials", ["required", "optional"]);
  const rewards = reader.optionalBoolean("rewards");
  const keys = reader.optionalOneOf("keys", ["prefixed", "both"]);
  if (
    reader.has("when") &&
    (!reader.isEmpty("remove") || rewards === false || credentials === "optional" || keys !== undefined)
  )
    reader.report(
      ["when"],
      "must be absent from a change that removes, switches off or has keys: it restricts only what is added",
    );
  const changes = ["credentials", "rewards", "keys"].some((name) => reader.has(name));
  if (reader.isEmpty("add") && reader.isEmpty("remove") && !changes)
    reader.report([], "must have add, remove, credentials, rewards or keys: it changes nothing");
  reader.rejectUnknown();
  return {
    operations: named,
    add,
    remove,
    credentialsRequired: credentials === undefined ? undefined : credentials === "required",
    rewards,
    keys,
    when,
  };
}

/** A line with its own condition, or that of the change. */
function readLine(
  reader: ObjectReader,
  known: KnownParts,
  when: Condition | undefined,
): EntryLine | DisclosureLine | undefined {
  if (when !== undefined && reader.has("when"))
    reader.report(["when"], "must be absent, because the change has a condition for all its lines");
  const line = reader.has("disclosure") ? readDisclosureLine(reader, known) : readEntryLine(reader, known);
  return line === undefined ? undefined : { ...line, when: line.when ?? when };
}

function readRemoved(reader: ObjectReader, { entries, disclosures }: KnownParts): string[] {
  return reader.texts("remove").flatMap(({ text, index }) => {
    if (entries.has(text) || disclosures.has(text)) return [text];
    const known = [...new Set([...entries, ...disclosures])].join(", ");
    reader.report(["remove", index], `must be one of ${known}, but is ${quote(text)}`);
    return [];
  });
}
