import type { Path } from "../../../util/object-reader.js";
import { areExclusive } from "./conditions.js";
import { isExit, type Operation } from "./operations.js";
import {
  type ContextChange,
  type ContextTable,
  type EntryLine,
  type KeyForm,
  keysOf,
  type OperationRow,
} from "./table.js";

const REWARD_ENTRIES = ["app-reward-configuration", "featured-app-right"];
const CREDENTIALS_ENTRIES = new Set(["sender", "receiver", "issuer", "holder"].map((party) => `${party}-credentials`));

/** Adds a problem of a change, at a path below it. */
type Report = (path: Path, reason: string) => void;

/** The table with the changes applied in order. Calls `report` for a change that does not fit the rows as they are then. */
export function applyChanges(
  table: ContextTable,
  changes: readonly ContextChange[],
  report: (change: number, path: Path, reason: string) => void,
): ContextTable {
  const rows: Record<Operation, OperationRow> = { ...table };
  for (const [index, change] of changes.entries()) {
    const reportOnce = reportEachPathOnce((path, reason) => report(index, path, reason));
    const before = change.operations.map((operation) => rows[operation]);
    for (const operation of change.operations)
      rows[operation] = changeRow(operation, rows[operation], change, reportOnce);
    const after = change.operations.map((operation) => rows[operation]);
    reportUseless(change, before, after, reportOnce);
  }
  return rows;
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
    const line = canRequire ? added : { ...added, required: false };
    if ("entry" in line) addEntry(line, ["add", index]);
    else disclosures.push(line);
  }
  const { keys } = change;
  if (keys !== undefined) entries = entries.map((line) => withKeys(line, keys));
  if (change.credentialsRequired !== undefined)
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
  const { credentialsRequired: required = false, when: requiredWhen } = change;
  if (required && line.required && JSON.stringify(line.requiredWhen) !== JSON.stringify(requiredWhen))
    report(
      ["credentials"],
      `must be optional in an earlier change, because ${line.entry} is required under another condition`,
    );
  return { ...line, required: required && canRequire, requiredWhen: required ? requiredWhen : undefined };
}

const isCredentials = ({ entry }: EntryLine): boolean => CREDENTIALS_ENTRIES.has(entry);

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
  if (change.credentialsRequired !== undefined && !after.some(({ entries }) => entries.some(isCredentials)))
    report(["credentials"], `must be absent: there are no credentials in ${none}`);
  for (const [index, { required }] of change.add.entries())
    if (required && change.operations.length > 0 && change.operations.every(isExit))
      report(["add", index, "required"], "must not be true: reject, withdraw and cancel never require a contract");
}

/** A change of many operations has a problem once. */
function reportEachPathOnce(report: Report): Report {
  const reported = new Set<string>();
  return (path, reason) => {
    const name = JSON.stringify(path);
    if (!reported.has(name)) report(path, reason);
    reported.add(name);
  };
}
