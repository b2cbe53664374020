/** The operator's contexts file. docs/contexts.md describes it. */
import { ObjectReader, type Problem } from "../../../util/object-reader.js";
import {
  type EntryDefinition,
  type FieldMatch,
  isParty,
  isPerParty,
  requestValues,
  valueForms,
} from "./entry-definition.js";
import { operations } from "./operations.js";
import { type KnownParts, readCondition, readDisclosureLine, readEntryLine, readOperations } from "./parse-lines.js";
import type { ContextChange, DisclosureLine, EntryLine } from "./table.js";
import { isVersion } from "./versions.js";

export interface ContextsFile {
  readonly entries: readonly EntryDefinition[];
  readonly changes: readonly ContextChange[];
  /** Versions by package id. */
  readonly packageVersions: ReadonlyMap<string, string>;
}

const NAME = /^[a-z][a-z0-9-]{0,99}$/;
const QUALIFIED_NAME = /^[A-Za-z][\w.]*:[A-Za-z][\w.]*$/;
const MAX_PREFIX = 300;

/** Reads the parsed content. `builtIn` has the entries and disclosures that lines may use besides those of the file. */
export function parseContextsFile(value: unknown, builtIn: KnownParts, problems: Problem[]): ContextsFile {
  const file = new ObjectReader(value ?? {}, [], problems);
  const packageVersions = file.has("packages") ? readPackages(file.object("packages")) : new Map<string, string>();
  const entries = file.has("entries") ? readEntries(file.object("entries"), builtIn) : [];
  const names = entries.map(({ name }) => name);
  const changes = readChanges(file, {
    entries: new Set([...builtIn.entries, ...names]),
    disclosures: new Set([...builtIn.disclosures, ...names]),
  });
  file.rejectUnknown();
  return { entries, changes, packageVersions };
}

function readPackages(reader: ObjectReader): ReadonlyMap<string, string> {
  const versions = new Map<string, string>();
  for (const id of reader.names()) {
    const version = reader.text(id);
    if (version === undefined) continue;
    if (isVersion(version)) versions.set(id, version);
    else reader.wrong(id, 'a version such as "0.7.0"');
  }
  return versions;
}

function readEntries(reader: ObjectReader, builtIn: KnownParts): EntryDefinition[] {
  return reader.names().flatMap((name) => {
    if (!NAME.test(name)) reader.report(name, "must be a name of lower-case letters, digits and hyphens");
    if (builtIn.entries.has(name) || builtIn.disclosures.has(name))
      reader.report(name, "is the name of a built-in entry");
    return readEntry(name, reader.object(name)) ?? [];
  });
}

function readEntry(name: string, reader: ObjectReader): EntryDefinition | undefined {
  const template = reader.object("template");
  const [packageName, qualifiedName] = [template.text("package"), template.text("name")];
  if (qualifiedName !== undefined && !QUALIFIED_NAME.test(qualifiedName)) template.wrong("name", "Module:Entity");
  template.rejectUnknown();
  const matches = reader.objects("find");
  const find = matches.flatMap((match) => readMatch(match) ?? []);
  if (matches.length === 0) reader.report("find", "must have at least one field");
  const form = reader.has("value")
    ? reader.optionalOneOf("value", valueForms)
    : reader.wrong("value", `one of ${valueForms.join(", ")}`);
  const parties = find.filter(({ is }) => isParty(is)).length;
  if (form === "contract-id" && find.some(({ is }) => isPerParty(is)))
    reader.report("value", "must be list or map-by-party, because a request may have several such parties");
  if (form === "map-by-party" && parties !== 1)
    reader.report("value", `map-by-party needs exactly one field that is a party of the request, but has ${parties}`);
  if (parties > 1) reader.report("find", "must have at most one field that is a party of the request");
  reader.rejectUnknown();
  if (packageName === undefined || qualifiedName === undefined || form === undefined) return undefined;
  return { name, template: { package: packageName, name: qualifiedName }, find, value: form };
}

function readMatch(reader: ObjectReader): FieldMatch | undefined {
  const field = reader.text("field");
  const is = reader.has("is")
    ? reader.optionalOneOf("is", requestValues)
    : reader.wrong("is", `one of ${requestValues.join(", ")}`);
  const prefix = reader.optionalInteger("prefix", 1, MAX_PREFIX);
  reader.rejectUnknown();
  return field === undefined || is === undefined ? undefined : { field, is, prefix };
}

function readChanges(file: ObjectReader, known: KnownParts): ContextChange[] {
  return file.objects("changes").map((reader) => readChange(reader, known));
}

/** Reads one change: `{operations, when, add, remove, credentials, rewards}`. */
export function readChange(reader: ObjectReader, known: KnownParts): ContextChange {
  const named = reader.has("operations") ? readOperations(reader) : operations;
  const when = readCondition(reader);
  const add = reader.objects("add").flatMap((line) => readLine(line, known) ?? []);
  const remove = reader.texts("remove");
  for (const name of remove)
    if (!known.entries.has(name) && !known.disclosures.has(name))
      reader.report("remove", `has the unknown name "${name}"`);
  const credentials = reader.optionalOneOf("credentials", ["required", "optional"]);
  const rewards = reader.optionalBoolean("rewards");
  if (when !== undefined && (remove.length > 0 || rewards === false || credentials === "optional"))
    reader.report("when", "restricts only what a change adds or requires: remove and switch off without a condition");
  if (add.length + remove.length === 0 && credentials === undefined && rewards === undefined)
    reader.report("add", "is missing, and so are remove, credentials and rewards: the change says nothing");
  reader.rejectUnknown();
  return {
    operations: named,
    add,
    remove,
    credentialsRequired: credentials === undefined ? undefined : credentials === "required",
    rewards,
    when,
  };
}

function readLine(reader: ObjectReader, known: KnownParts): EntryLine | DisclosureLine | undefined {
  return reader.has("disclosure") ? readDisclosureLine(reader, known) : readEntryLine(reader, known);
}
