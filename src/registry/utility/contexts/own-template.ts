import type { JsonObject } from "../../../domain/json.js";
import { indexKey, type Template } from "../../../domain/template.js";
import { JsonReader } from "../../sdk/json-reader.js";
import type { EntryDefinition } from "./entry-definition.js";

/** The index under which an entry finds its contracts. Names of entries are unique. */
export const indexOf = (entry: string): string => `own/${entry}`;

export const templateName = ({ template }: EntryDefinition): string => `${template.package}#${template.name}`;

/** The templates of the entries, by `templateName`. Entries may share one. */
export function ownTemplates(definitions: readonly EntryDefinition[]): ReadonlyMap<string, Template> {
  const byTemplate = new Map<string, EntryDefinition[]>();
  for (const definition of definitions) {
    const name = templateName(definition);
    byTemplate.set(name, [...(byTemplate.get(name) ?? []), definition]);
  }
  return new Map([...byTemplate].map(([name, entries]) => [name, ownTemplate(entries)]));
}

function ownTemplate(entries: readonly EntryDefinition[]): Template<null> {
  // The order of entries in the file does not matter.
  const indexes = entries
    .map(({ name, find }) => ({ name, paths: find.map(({ field }) => field.split(".")) }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return {
    packageName: entries[0]?.template.package ?? "",
    qualifiedName: entries[0]?.template.name ?? "",
    revision: JSON.stringify(indexes),
    parse(payload) {
      const indexKeys = indexes.flatMap(({ name, paths }) => keyOf(name, paths, payload) ?? []);
      return indexKeys.length === 0 ? undefined : { fields: null, indexKeys };
    },
  };
}

/** Undefined for a contract without one of the fields: it was created by an older package, or leaves an optional empty. */
function keyOf(name: string, paths: readonly (readonly string[])[], payload: JsonObject): string | undefined {
  const reader = new JsonReader(payload, "");
  const values = paths.map((path) => textAt(reader, path)).filter((text) => text !== undefined);
  return values.length < paths.length ? undefined : indexKey(indexOf(name), ...values);
}

/** The text at a path such as `details.registrar`. Throws if it is something else. */
function textAt(reader: JsonReader, path: readonly string[]): string | undefined {
  let object: JsonReader | undefined = reader;
  for (const name of path.slice(0, -1)) object = object?.optionalObject(name);
  const last = path.at(-1) ?? "";
  return object?.raw(last) === undefined ? undefined : object.text(last);
}
