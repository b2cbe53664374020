import { packageIdOf } from "../../domain/contract.js";
import { formatMistake, type Mistake, type Path } from "../../util/operator-file.js";
import type { ContextDefinition, ContextLine, LineCondition } from "../engine/answer.js";
import { isExit } from "../engine/problems.js";
import {
  compareVersions,
  type Condition,
  type ContextChange,
  type EntryLine,
  type KeyForm,
  keysOf,
  type LineOptions,
  type Operation,
  type OperationRow,
  type PackageCondition,
} from "./definition.js";
import { credentialRoles, type UtilityDisclosure, type UtilityEntry, UtilitySelector } from "./entries.js";
import { type PackageVersions, utilityFile } from "./templates.js";

export type ContextTable = Readonly<Record<Operation, OperationRow>>;

/** The table of utility.yaml. A test compares its names with those of the operations. */
export const builtInTable = Object.fromEntries(utilityFile.operations.flat()) as unknown as ContextTable;

/** What a table may name. */
export interface Parts {
  readonly entries: ReadonlyMap<string, UtilityEntry>;
  readonly disclosures: ReadonlyMap<string, UtilityDisclosure>;
}

const REWARD_ENTRIES = ["app-reward-configuration", "featured-app-right"];

/** Adds a mistake of a change, at a path below it. */
type Report = (path: Path, message: string) => void;

/** The table with the changes applied in order. A mistake is a change that does not fit the rows as they are then. */
export function applyChanges(
  table: ContextTable,
  changes: readonly ContextChange[],
  at: Path,
): { readonly table: ContextTable; readonly mistakes: readonly Mistake[] } {
  const rows: Record<Operation, OperationRow> = { ...table };
  // A change of many operations has a mistake once.
  const mistakes = new Map<string, Mistake>();
  for (const [index, change] of changes.entries()) {
    const report: Report = (below, message) => {
      const path = [...at, index, ...below];
      const name = formatMistake({ path, message: "" });
      if (!mistakes.has(name)) mistakes.set(name, { path, message });
    };
    const before = change.operations.map((operation) => rows[operation]);
    for (const operation of change.operations) rows[operation] = changeRow(operation, rows[operation], change, report);
    const after = change.operations.map((operation) => rows[operation]);
    reportUseless(change, before, after, report);
  }
  return { table: rows, mistakes: [...mistakes.values()] };
}

function changeRow(operation: Operation, row: OperationRow, change: ContextChange, report: Report): OperationRow {
  const isKept = (name: string) => !change.remove.includes(name);
  const canRequire = !isExit(operation);
  let entries = row.entries.filter(
    ({ entry }) => isKept(entry) && !(change.rewards === false && REWARD_ENTRIES.includes(entry)),
  );
  const disclosures = row.disclosures.filter(({ disclosure }) => isKept(disclosure));
  const addEntry = (line: EntryLine, path: Path) => {
    const key = line.keys.find((text) => hasKey(entries, text, line));
    if (key !== undefined)
      report(path, `must not add the key ${key} to ${operation}, which has it: remove that entry in this change`);
    entries.push(line);
  };

  if (change.rewards === true)
    for (const line of rewardLines(row, change)) if (!hasLine(entries, line)) addEntry(line, ["rewards"]);
  for (const [index, added] of change.add.entries()) {
    const line = { ...added, required: added.required && canRequire, when: added.when ?? change.when };
    if ("entry" in line) addEntry(line, ["add", index]);
    else disclosures.push(line);
  }
  const { keys } = change;
  if (keys !== undefined) entries = entries.map((line) => withKeys(line, keys));
  if (change.credentials !== undefined)
    // The ledger reads nothing where everything may be missing.
    entries = entries.map((line) => requireCredentials(line, change, canRequire && !row.allowsMissing, report));
  return { ...row, entries, disclosures };
}

/** Whether the line is there: a module may have switched rewards on already. */
const hasLine = (entries: readonly EntryLine[], line: EntryLine): boolean =>
  entries.some((other) => JSON.stringify(other) === JSON.stringify(line));

/** Whether an entry has the key, in a request that may have the line too. */
const hasKey = (entries: readonly EntryLine[], key: string, { when }: EntryLine): boolean =>
  entries.some((other) => other.keys.includes(key) && !areExclusive(other.when, when));

const rewardLines = ({ hasRewards }: OperationRow, { when }: ContextChange): EntryLine[] =>
  hasRewards
    ? REWARD_ENTRIES.map((entry) => ({
        entry,
        keys: keysOf(entry, "prefixed"),
        required: false,
        requiredWhen: undefined,
        when,
      }))
    : [];

/** The line with keys of this form, unless its keys are a list of their own. */
const withKeys = (line: EntryLine, form: KeyForm): EntryLine =>
  hasKeyForm(line) ? { ...line, keys: keysOf(line.entry, form) } : line;

const hasKeyForm = ({ entry, keys }: EntryLine): boolean =>
  (["prefixed", "both"] as const).some((form) => keysOf(entry, form).join() === keys.join());

function requireCredentials(line: EntryLine, change: ContextChange, canRequire: boolean, report: Report): EntryLine {
  if (!isCredentials(line)) return line;
  const { credentials, when: requiredWhen } = change;
  const required = credentials === "required";
  if (required && line.required && JSON.stringify(line.requiredWhen) !== JSON.stringify(requiredWhen))
    report(
      ["credentials"],
      `must be optional in an earlier change, because ${line.entry} is required under another condition`,
    );
  return { ...line, required: required && canRequire, requiredWhen: required ? requiredWhen : undefined };
}

const isCredentials = ({ entry }: EntryLine): boolean => credentialRoles.has(entry);

/** Reports what changes none of the operations: a slip must not go unnoticed. */
function reportUseless(
  change: ContextChange,
  before: readonly OperationRow[],
  after: readonly OperationRow[],
  report: Report,
): void {
  const none = "any of the operations of the change";
  for (const [index, name] of change.remove.entries()) {
    const isThere = before.some(
      ({ entries, disclosures }) =>
        entries.some(({ entry }) => entry === name) || disclosures.some(({ disclosure }) => disclosure === name),
    );
    if (!isThere) report(["remove", index], `must be a line of ${none}, but ${name} is not`);
  }
  if (change.keys !== undefined && !after.some(({ entries }) => entries.some(hasKeyForm)))
    report(["keys"], `must be absent: there are no entries with such keys in ${none}`);
  if (change.rewards !== undefined && !before.some(({ hasRewards }) => hasRewards))
    report(["rewards"], `must be absent: no reward entries are known for ${none}`);
  if (change.credentials !== undefined && !after.some(({ entries }) => entries.some(isCredentials)))
    report(["credentials"], `must be absent: there are no credentials in ${none}`);
  for (const [index, { required }] of change.add.entries())
    if (required && change.operations.length > 0 && change.operations.every(isExit))
      report(["add", index, "required"], "must not be true: reject, withdraw and cancel never require a contract");
}

type UtilityLine = ContextLine<UtilitySelector>;

/** Compiles the row of an operation, so that a request evaluates no names and no text. */
export function compileRow(
  row: OperationRow,
  parts: Parts,
  packageVersions: PackageVersions,
): ContextDefinition<UtilitySelector> {
  const compile = (condition: Condition | undefined): CompiledCondition | undefined =>
    condition === undefined ? undefined : compileCondition(condition, packageVersions);
  const options = ({ required, requiredWhen, when }: LineOptions) => ({
    required,
    requiredWhen: compile(requiredWhen),
    when: compile(when),
  });
  const entries = row.entries.map((line): UtilityLine => {
    const part = partNamed(parts.entries, line.entry);
    return { name: line.entry, keys: line.keys, write: (...given) => part.value(...given), ...options(line) };
  });
  const disclosures = row.disclosures.map((line): UtilityLine => {
    const part = partNamed(parts.disclosures, line.disclosure);
    const write: UtilityLine["write"] = (...given) => {
      part.disclose(...given);
    };
    return { name: line.disclosure, keys: [], write, ...options(line) };
  });
  const selectorOptions = {
    allowsMissing: row.allowsMissing,
    refusesBlocklist:
      row.needsBlocklist && ![...row.entries, ...row.disclosures].some(({ when }) => when === "checkBlocklist"),
  };
  return {
    lines: [...entries, ...disclosures],
    selector: (...answer) => new UtilitySelector(...answer, selectorOptions),
  };
}

/** Reading the table has rejected unknown names. */
function partNamed<T>(parts: ReadonlyMap<string, T>, name: string): T {
  const part = parts.get(name);
  if (part === undefined) throw new Error(`the table of operations names ${name}, which does not exist`);
  return part;
}

/** Whether a line of the table applies to a request. */
type CompiledCondition = LineCondition<UtilitySelector>;

function compileCondition(condition: Condition, versions: PackageVersions): CompiledCondition {
  return typeof condition === "string" ? named[condition] : packageCondition(condition, versions);
}

const named: Readonly<Record<Exclude<Condition, PackageCondition>, CompiledCondition>> = {
  checkBlocklist(selector, { instruments }) {
    for (const id of instruments) if (selector.configuration(id, false)?.fields.checkBlocklist === true) return true;
    return false;
  },
  severalInstruments: (_selector, { instruments }) => instruments.length > 1,
  configured(selector, { instruments }) {
    for (const id of instruments) if (selector.configuration(id, false) !== undefined) return true;
    return false;
  },
};

const packageCondition =
  (condition: PackageCondition, versions: PackageVersions): CompiledCondition =>
  (_selector, { subject }) =>
    subject !== undefined &&
    subject.template.packageName === condition.package &&
    isInRange(condition, versions.versionOf(packageIdOf(subject.templateId)));

/** A package whose version is not known counts as current. */
function isInRange({ from, before }: PackageCondition, version: string | undefined): boolean {
  if (version === undefined) return before === undefined;
  if (from !== undefined && compareVersions(version, from) < 0) return false;
  return before === undefined || compareVersions(version, before) < 0;
}

/** Whether no request meets both: a request is about one contract, which has one package and version. */
function areExclusive(a: Condition | undefined, b: Condition | undefined): boolean {
  if (typeof a !== "object" || typeof b !== "object") return false;
  return a.package !== b.package || isBelow(a, b) || isBelow(b, a);
}

const isBelow = ({ before }: PackageCondition, { from }: PackageCondition): boolean =>
  before !== undefined && from !== undefined && compareVersions(before, from) <= 0;
