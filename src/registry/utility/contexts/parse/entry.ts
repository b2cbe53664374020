/** Reads the entries that the operator defines. */
import type { ObjectReader } from "../../../../util/object-reader.js";
import {
  type EntryDefinition,
  type FieldMatch,
  isParty,
  isPerParty,
  requestValues,
  valueForms,
} from "../entry-definition.js";
import { isEntryName, type KnownParts } from "./lines.js";

const PACKAGE_NAME = /^[\w-]{1,200}$/;
const QUALIFIED_NAME = /^[A-Za-z][\w.]{0,499}:[A-Za-z][\w.]{0,499}$/;
const FIELD = /^[A-Za-z_][\w']{0,199}(?:\.[A-Za-z_][\w']{0,199}){0,19}$/;
const MAX_PREFIX = 300;

/** The entries of the file. `builtIn` has the names that are taken. */
export function readEntries(reader: ObjectReader, builtIn: KnownParts): EntryDefinition[] {
  return reader.names().flatMap((name) => {
    if (!isEntryName(name))
      reader.report([name], "must be a name of lower-case letters, digits and hyphens that begins with a letter");
    if (builtIn.entries.has(name) || builtIn.disclosures.has(name))
      reader.report([name], "must have another name: there is an entry or disclosure of this name already");
    return readEntry(name, reader.object(name)) ?? [];
  });
}

function readEntry(name: string, reader: ObjectReader): EntryDefinition | undefined {
  const template = readTemplate(reader.object("template"));
  const find = reader.objects("find").flatMap((match) => readMatch(match) ?? []);
  if (reader.isEmpty("find")) reader.report(["find"], "must have at least one field");
  const value = reader.oneOf("value", valueForms);
  checkForm(reader, find, value);
  reader.rejectUnknown();
  return template === undefined || value === undefined ? undefined : { name, template, find, value };
}

function readTemplate(reader: ObjectReader): EntryDefinition["template"] | undefined {
  const [packageName, name] = [reader.text("package"), reader.text("name")];
  if (packageName !== undefined && !PACKAGE_NAME.test(packageName))
    reader.wrong("package", "the name of a package: letters, digits, - and _");
  if (name !== undefined && !QUALIFIED_NAME.test(name)) reader.wrong("name", "Module:Entity");
  reader.rejectUnknown();
  return packageName === undefined || name === undefined ? undefined : { package: packageName, name };
}

function readMatch(reader: ObjectReader): FieldMatch | undefined {
  const field = reader.text("field");
  if (field !== undefined && !FIELD.test(field))
    reader.wrong("field", "the name of a field, or a path as details.owner");
  const is = reader.oneOf("is", requestValues);
  const prefix = reader.optionalInteger("prefix", 1, MAX_PREFIX);
  reader.rejectUnknown();
  return field === undefined || is === undefined ? undefined : { field, is, prefix };
}

/** A value has one contract, or one for each party: several of a request would not fit. */
function checkForm(
  reader: ObjectReader,
  find: readonly FieldMatch[],
  value: EntryDefinition["value"] | undefined,
): void {
  const parties = find.filter(({ is }) => isParty(is)).length;
  if (parties > 1) reader.report(["find"], "must have at most one field that is a party of the request");
  if (value === "contract-id" && find.some(({ is }) => isPerParty(is)))
    reader.report(["value"], "must be list or map-by-party, because a request may have several such parties");
  if (value !== "map-by-party") return;
  if (parties === 0)
    reader.report(["value"], "must be list or contract-id, because no field is a party of the request");
  if (find.some(({ is }) => is === "instrument"))
    reader.report(["value"], "must be list, because a request may have several instruments for a party");
}
