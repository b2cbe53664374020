/** A table with what an extension adds and changes: a contexts file, a file that extends another, or a module. */
import { check, type Checked, type Path, quote } from "../../util/operator-file.js";
import { isExit, matches, type TableOperation, operationsNamed } from "../operation-names.js";
import { fullNames } from "./file.js";
import {
  type Condition,
  type Extension,
  extensionForm,
  registryExtensionForm,
  statedForm,
  type TemplateDefinition,
} from "./grammar.js";
import { list, Names } from "./names.js";
import type { Row, Table, TableLine } from "./table-types.js";
import { compareVersions } from "./versions.js";

/** A file that extends the table. Nothing is used of one with a mistake. */
export function checkExtension(base: Table, value: unknown): Checked<Table> {
  // The factories and instruments of the Registry Utility are functions.
  const form = base.file.instruments === undefined ? extensionForm : registryExtensionForm;
  const { value: extension, mistakes }: Checked<Extension> = check(form, value ?? {});
  return extension === undefined ? { mistakes } : extend(base, extension);
}

type Change = NonNullable<Extension["changes"]>[number];

/** Applies the changes in order. A mistake is one that does not fit the operations as they are then. */
export function extend(base: Table, extension: Extension, changesAt: Path = ["changes"]): Checked<Table> {
  const { vocabulary } = base;
  const own = fullNames(extension.templates ?? {}, extension);
  const names = new Names(vocabulary, { ...base.templates, ...own }, base);
  checkTemplates(base, own, names);
  const entries = names.entries(extension.entries ?? {});
  names.rules(extension);
  const stated = Object.entries(extension).filter(([field]) => Object.hasOwn(statedForm.shape, field));
  const rows: Partial<Record<TableOperation, Row>> = { ...base.rows };
  for (const [index, change] of (extension.changes ?? []).entries()) {
    const at = [...changesAt, index];
    const changed = change.on?.flatMap((pattern, position) => {
      const found = operationsNamed(pattern, vocabulary.operations);
      if (found.length === 0) names.report([...at, "on", position], "must be an operation of this registry");
      return found;
    });
    const operations = [...new Set(changed ?? vocabulary.operations)];
    for (const word of ["if", "unless"] as const) names.conditions(list(change[word]), [...at, word]);
    const lines = operations.flatMap((operation) => rows[operation]?.lines ?? []);
    reportUseless(change, lines, names, at);
    for (const operation of operations) {
      const row = rows[operation];
      if (row !== undefined) rows[operation] = changeRow(operation, row, change, base, names, at);
    }
  }
  return names.checked({
    ...base,
    ...entries,
    file: { ...base.file, ...Object.fromEntries(stated) },
    rows,
    templates: { ...base.templates, ...own },
    packages: { ...base.packages, ...extension.packages },
  });
}

const idOf = ({ package: packageName, name }: TemplateDefinition): string => `${packageName}#${name}`;

/** A template of a registry file may be replaced. */
function checkTemplates(
  { templates, vocabulary, file }: Table,
  own: Readonly<Record<string, TemplateDefinition>>,
  names: Names,
): void {
  const others = Object.entries(templates).filter(([name]) => !Object.hasOwn(own, name));
  const isRead = new Set(others.map(([, one]) => idOf(one)));
  for (const { packageName, qualifiedName } of vocabulary.templates.values())
    isRead.add(`${packageName}#${qualifiedName}`);
  for (const [name, template] of Object.entries(own)) {
    const at = ["templates", name];
    if (template.name !== undefined && template.package === undefined)
      names.report(at, "must have a package: the file has none for its templates");
    const replaced = Object.hasOwn(templates, name) ? templates[name] : undefined;
    if (vocabulary.templates.has(name) || (replaced !== undefined && file.instruments === undefined))
      names.report(at, "must have another name: there is a template of this name already");
    if (replaced !== undefined && replaced.read === undefined && template.read !== undefined)
      names.report([...at, "read"], "must be absent: what is extended stores these contracts");
    if (template.name !== undefined && isRead.has(idOf(template)))
      names.report(at, "must be a template that the registry does not read already");
  }
}

/** Reports what changes none of the operations: a slip must not go unnoticed. */
function reportUseless({ remove = [], set }: Change, lines: readonly TableLine[], names: Names, at: Path): void {
  const none = "must be that of a line of any of the operations of the change";
  for (const [index, name] of remove.entries())
    if (!lines.some((line) => matches(name, line.name)))
      names.report([...at, "remove", index], `${none}: ${quote(name)} is not`);
  if (set === undefined) return;
  for (const name of list(set.entry))
    if (!lines.some((line) => matches(name, line.name)))
      names.report([...at, "set", "entry"], `${none}: ${quote(name)} is not`);
}

function changeRow(
  operation: TableOperation,
  { lines: before, missing }: Row,
  change: Change,
  { file: { key } }: Table,
  names: Names,
  at: Path,
): Row {
  const { remove = [], add = [], set } = change;
  const conditions = { if: list<Condition>(change.if), unless: list<Condition>(change.unless) };
  const lines = before
    .flatMap((line) => (remove.some((name) => matches(name, line.name)) ? otherwise(line, conditions) : line))
    .flatMap((line) => {
      const changed = set === undefined ? line : setLine(line, set);
      return changed === line ? line : [under(changed, conditions)].concat(otherwise(line, conditions));
    });
  if (set?.missing === "refuse")
    for (const { kind, name, missing: now } of lines)
      if (now === "refuse" && isExit(operation) && (kind === "entry" || kind === "disclosure"))
        names.report(
          [...at, "set", "missing"],
          `must not be refuse for ${name} of ${operation}: reject, withdraw and cancel must be possible without it`,
        );
  for (const [index, written] of add.entries()) {
    const path = [...at, "add", index];
    if (written.include !== undefined) {
      names.report([...path, "include"], "must be absent: a change adds lines of its own");
      continue;
    }
    const line = under(names.line(written, path, operation, { missing, key }), conditions);
    const taken = line.keys.find((one) =>
      lines.some((other) => other.keys.includes(one) && !areExclusive(other, line)),
    );
    if (taken !== undefined)
      names.report(
        path,
        `must not add the key ${taken} to ${operation}, which has it: remove that entry in this change`,
      );
    lines.splice(line.keys.length > 0 ? lines.findLastIndex(({ keys }) => keys.length > 0) + 1 : lines.length, 0, line);
  }
  return { lines, missing };
}

type Conditions = Pick<TableLine, "if" | "unless">;

/** The line for requests that meet the conditions. */
const under = (line: TableLine, { if: only, unless }: Conditions): TableLine => ({
  ...line,
  if: [...line.if, ...only],
  unless: [...line.unless, ...unless],
});

/** The line for the others: one for each condition, of which no request meets two. */
const otherwise = (line: TableLine, { if: only, unless }: Conditions): TableLine[] => [
  ...only.map((one, index) => under(line, { if: only.slice(0, index), unless: [one] })),
  ...unless.map((one, index) => under(line, { if: [...only, one], unless: unless.slice(0, index) })),
];

/** The same line if nothing of it changes. */
function setLine(line: TableLine, { entry, missing, key }: NonNullable<Change["set"]>): TableLine {
  const { kind, name } = line;
  if (entry !== undefined && !list(entry).some((one) => matches(one, name))) return line;
  // Where everything may be missing, nothing of it is read.
  const hasMissing = (kind === "entry" || kind === "disclosure") && line.missing !== "allow";
  const keys =
    key === undefined || kind !== "entry" || (line.hasOwnKeys && entry === undefined)
      ? line.keys
      : list(key).map((one) => one.replaceAll("*", name));
  const changed = { ...line, keys, missing: hasMissing ? (missing ?? line.missing) : line.missing };
  return changed.missing === line.missing && keys.join() === line.keys.join() ? line : changed;
}

const isIn = (one: Condition, among: readonly Condition[]): boolean =>
  among.some((other) => JSON.stringify(other) === JSON.stringify(one));

/** Whether no request meets the conditions of both: it is about one contract, which has one package and version. */
function areExclusive(a: Conditions, b: Conditions): boolean {
  if (a.if.some((one) => isIn(one, b.unless)) || b.if.some((one) => isIn(one, a.unless))) return true;
  return a.if.some((one) => b.if.some((other) => areDisjoint(one, other)));
}

function areDisjoint(a: Condition, b: Condition): boolean {
  if (typeof a !== "object" || typeof b !== "object") return false;
  const isBelow = ({ before }: typeof a, { from }: typeof a): boolean =>
    before !== undefined && from !== undefined && compareVersions(before, from) <= 0;
  return a.package !== b.package || isBelow(a, b) || isBelow(b, a);
}
