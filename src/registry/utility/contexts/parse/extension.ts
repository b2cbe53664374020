/** Checks the extension of a module, which may be plain JavaScript. */
import type { Template } from "../../../../domain/template.js";
import { isAsyncFunction } from "../../../../util/async-function.js";
import { ObjectReader, type Path, type Problem } from "../../../../util/object-reader.js";
import type { ContextEntry, Disclosure } from "../../context.js";
import type { Instruction } from "../../instructions.js";
import { MODULE_PATH } from "../contexts-error.js";
import { isEntryName } from "./lines.js";

/** A checked extension, except for its operations. */
export interface ParsedExtension {
  readonly templates: readonly Template[];
  readonly entries: ReadonlyMap<string, ContextEntry & Partial<Disclosure>>;
  /** Each is an object. */
  readonly operations: readonly ObjectReader[];
  readonly allocations: readonly Template<Instruction>[];
}

export function parseExtension(value: unknown, problems: Problem[]): ParsedExtension {
  const reader = new ObjectReader(value, [MODULE_PATH], problems);
  const parsed = {
    templates: readTemplates(reader, "templates"),
    entries: reader.has("entries") ? readEntries(reader.object("entries")) : new Map(),
    operations: reader.objects("operations"),
    // The compiler checks the types of fields where the module is written.
    allocations: readTemplates(reader, "allocations") as Template<Instruction>[],
  };
  reader.rejectUnknown();
  return parsed;
}

function readTemplates(reader: ObjectReader, name: string): Template[] {
  return reader.list(name).map((value, index) => {
    const path = [name, index];
    checkField(reader, path, value, "packageName", isText, "a non-empty string");
    checkField(reader, path, value, "qualifiedName", isText, "a non-empty string");
    checkField(reader, path, value, "parse", isSynchronous, "a synchronous function");
    checkField(reader, path, value, "revision", orAbsent(isText), "a non-empty string");
    checkField(reader, path, value, "supplyContribution", orAbsent(isSynchronous), "a synchronous function");
    return value as Template;
  });
}

function readEntries(reader: ObjectReader): Map<string, ContextEntry & Partial<Disclosure>> {
  const entries = reader.names().map((name) => {
    if (!isEntryName(name))
      reader.report([name], "must be a name of lower-case letters, digits and hyphens that begins with a letter");
    const value = reader.raw(name);
    checkField(reader, [name], value, "value", isSynchronous, "a synchronous function");
    checkField(reader, [name], value, "disclose", orAbsent(isSynchronous), "a synchronous function");
    return [name, value as ContextEntry & Partial<Disclosure>] as const;
  });
  return new Map(entries);
}

/** Checks a field of an object at a path. The object may be of a class, whose methods are not its own fields. */
function checkField(
  reader: ObjectReader,
  path: Path,
  object: unknown,
  name: string,
  isValid: (value: unknown) => boolean,
  expected: string,
): void {
  const value = typeof object === "object" && object !== null && name in object ? Reflect.get(object, name) : undefined;
  if (!isValid(value)) reader.report([...path, name], `must be ${expected}`);
}

const isText = (value: unknown): boolean => typeof value === "string" && value !== "";
const isSynchronous = (value: unknown): boolean => typeof value === "function" && !isAsyncFunction(value);
const orAbsent = (isValid: (value: unknown) => boolean) => (value: unknown) => value === undefined || isValid(value);
