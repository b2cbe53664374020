/** Reads a registry file: its names are checked, and each operation gets its lines. */
import type { z } from "zod";
import { check, type Checked, type Mistake, parseOperatorFile } from "../../util/operator-file.js";
import { type TableOperation, operationsNamed, STANDARD_OPERATIONS } from "../operation-names.js";
import type { LineCondition } from "./choice-context.js";
import {
  type Line,
  type Missing,
  registryFile,
  type RegistryFile,
  type TemplateDefinition,
  type UtilityFile,
} from "./grammar.js";
import { choicesOf } from "./views.js";
import { missingOf, Names } from "./names.js";
import { partiesNamed } from "./terms.js";
import type { Row, Table, Vocabulary } from "./table-types.js";

/** Facts of every request. */
export const FACTS: Readonly<Record<string, LineCondition>> = {
  self: (_selector, { isSelf }) => isSelf === true,
  "several-instruments": (_selector, { instruments }) => instruments.length > 1,
};

/** That of registry files. */
const STANDARD: Vocabulary = {
  operations: STANDARD_OPERATIONS,
  facts: FACTS,
  partiesOf: partiesNamed,
  functions: {},
  parts: new Map(),
  templates: new Map(),
};

/** The content of a registry file, without mistakes. */
export type Loaded<T> =
  | { readonly file: T; readonly problems?: undefined }
  /** Each as `line:column: path: what is wrong`, in the order of the file. */
  | { readonly file?: undefined; readonly problems: readonly string[] };

/** A file that extends no other. */
export const parseRegistryFile = (content: Uint8Array | string): Loaded<RegistryFile> =>
  loadForm(content, registryFile, (file) => resolve(file).mistakes ?? []);

/** `more` finds the mistakes that the form does not show. */
export function loadForm<T>(
  content: Uint8Array | string,
  form: z.ZodType<T>,
  more: (file: T) => readonly Mistake[],
): Loaded<T> {
  const { value, problems } = parseOperatorFile(content, (file) => check(form, file, more));
  return problems === undefined ? { file: value } : { problems };
}

export const checkRegistryFile = (value: unknown): Checked<Table> => {
  const { value: file, mistakes } = check(registryFile, value);
  return file === undefined ? { mistakes } : resolve(file);
};

/** The table of a file, and the mistakes that its form does not show. */
export function resolve(
  { templates, entries = {}, operations = {}, packages = {}, ...file }: UtilityFile,
  vocabulary: Vocabulary = STANDARD,
): Checked<Table> {
  const reader = new Names(vocabulary, templates);
  const own = reader.entries(entries);
  reader.rules(file);
  if (
    file.package === undefined &&
    Object.values(templates).some((one) => one.name !== undefined && one.package === undefined)
  )
    reader.report(["package"], "must be a non-empty string, but is missing");
  const rows: Partial<Record<TableOperation, Row>> = {};
  for (const name of Object.keys(operations))
    if (operationsNamed(name, vocabulary.operations).length === 0)
      reader.report(["operations", name], "must be an operation of this registry");
  for (const operation of vocabulary.operations) {
    const sections = Object.entries(operations)
      .filter(([name]) => operationsNamed(name, [operation]).length > 0)
      .map(([name, section]) => ({ at: ["operations", name], section: rowOf(section) }));
    const lines = sections.flatMap(({ section: { lines: written, missing }, at }) =>
      written.flatMap((line, index) =>
        included(line, operations).map((outer) =>
          reader.line(outer.line, [...at, index], operation, { missing, key: file.key, outer: outer.by }),
        ),
      ),
    );
    rows[operation] = { lines, missing: sections.at(-1)?.section.missing ?? missingOf(operation) };
  }
  for (const [name, section] of Object.entries(operations))
    for (const [index, { include }] of rowOf(section).lines.entries()) {
      if (include === undefined) continue;
      const at = ["operations", name, index, "include"];
      reader.known(operations, include, "operation", at);
      const inner = Object.hasOwn(operations, include) ? operations[include] : undefined;
      if (inner !== undefined && rowOf(inner).lines.some((one) => one.include !== undefined))
        reader.report(at, `operation ${include} includes another one itself`);
    }
  return reader.checked({ file, templates: fullNames(templates, file), ...own, rows, packages, vocabulary });
}

type Section = NonNullable<UtilityFile["operations"]>[string];

const rowOf = (section: Section | undefined): { readonly missing?: Missing | undefined; readonly lines: Line[] } =>
  section === undefined ? { lines: [] } : Array.isArray(section) ? { lines: section } : section;

/** A line, or those that it includes. */
function included(line: Line, operations: NonNullable<UtilityFile["operations"]>) {
  if (line.include === undefined) return [{ line, by: undefined }];
  return rowOf(operations[line.include]).lines.map((inner) => ({ line: inner, by: line }));
}

export const fullNames = (
  templates: Readonly<Record<string, TemplateDefinition>>,
  {
    package: packageName,
    module = "",
  }: { readonly package?: string | undefined; readonly module?: string | undefined },
): Readonly<Record<string, TemplateDefinition>> =>
  Object.fromEntries(
    Object.entries(templates).map(([name, one]) => [
      name,
      {
        ...one,
        choices: choicesOf(one),
        ...(one.name !== undefined && { package: one.package ?? packageName, name: `${module}${one.name}` }),
      },
    ]),
  );
