import type { ObjectReader } from "../../../../util/object-reader.js";
import type { Condition, PackageCondition } from "../table.js";
import { compareVersions, isVersion } from "../versions.js";

const NAMED_CONDITIONS = ["checkBlocklist", "severalInstruments", "configured"] as const;

/** The condition in the field `when`; undefined if there is none, or if it has problems. */
export function readCondition(reader: ObjectReader): Condition | undefined {
  if (!reader.has("when")) return undefined;
  const value = reader.raw("when");
  const named = NAMED_CONDITIONS.find((name) => name === value);
  if (named !== undefined) return named;
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return reader.wrong("when", `${NAMED_CONDITIONS.join(", ")}, or a map with a package`);
  return readPackageCondition(reader.object("when"));
}

function readPackageCondition(reader: ObjectReader): PackageCondition | undefined {
  const name = reader.text("package");
  const [from, before] = [readVersion(reader, "from"), readVersion(reader, "before")];
  if (!reader.has("from") && !reader.has("before"))
    reader.report([], "must have from, before or both: a condition on a package is one on its version");
  if (from !== undefined && before !== undefined && compareVersions(from, before) >= 0)
    reader.report(["before"], `must be a later version than from, which is ${from}, but is ${before}`);
  reader.rejectUnknown();
  return name === undefined ? undefined : { package: name, from, before };
}

const readVersion = (reader: ObjectReader, name: string): string | undefined =>
  reader.has(name) ? requireVersion(reader, name) : undefined;

/** The version in a field that must be present. */
export function requireVersion(reader: ObjectReader, name: string): string | undefined {
  const value = reader.raw(name);
  return typeof value === "string" && isVersion(value) ? value : reader.wrong(name, 'a version in quotes, as "0.7.0"');
}
