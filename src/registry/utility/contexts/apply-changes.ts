import {
  type Condition,
  type ContextChange,
  type ContextTable,
  type DisclosureLine,
  type EntryLine,
  keysOf,
  type OperationRow,
} from "./table.js";
import type { Operation } from "./operations.js";

const REWARD_ENTRIES = ["app-reward-configuration", "featured-app-right"];

/** The table with the changes applied in order. Calls `report` for a change that does not fit the row of an operation. */
export function applyChanges(
  table: ContextTable,
  changes: readonly ContextChange[],
  report: (change: number, reason: string) => void,
): ContextTable {
  const rows: Record<Operation, OperationRow> = { ...table };
  for (const [index, change] of changes.entries()) {
    for (const operation of change.operations)
      rows[operation] = changeRow(rows[operation], change, (reason) => report(index, `${operation} ${reason}`));
  }
  return rows;
}

function changeRow(row: OperationRow, change: ContextChange, report: (reason: string) => void): OperationRow {
  const { add, remove, when } = change;
  const isKept = (name: string) => !remove.includes(name);
  let entries = row.entries.filter(({ entry }) => isKept(entry));
  let disclosures = row.disclosures.filter(({ disclosure }) => isKept(disclosure));
  if (change.rewards !== undefined) {
    entries = entries.filter(({ entry }) => !REWARD_ENTRIES.includes(entry));
    if (change.rewards) entries = [...entries, ...rewardLines(row, when)];
  }
  const added = add.map((line) => ({ ...line, when: combine(line.when, when, report) }));
  entries = [...entries, ...added.filter((line): line is EntryLine => "entry" in line)];
  disclosures = [...disclosures, ...added.filter((line): line is DisclosureLine => "disclosure" in line)];
  const { credentialsRequired } = change;
  if (credentialsRequired !== undefined)
    entries = entries.map((line) =>
      isCredentials(line) ? { ...line, required: credentialsRequired, requiredWhen: when } : line,
    );
  const twice = findDuplicate(entries.flatMap(({ keys }) => keys));
  if (twice !== undefined) report(`would have the key "${twice}" twice: remove the entry that has it first`);
  return { ...row, entries, disclosures };
}

const rewardLines = ({ rewardKeys }: OperationRow, when: Condition | undefined): EntryLine[] =>
  rewardKeys === undefined
    ? []
    : REWARD_ENTRIES.map((entry) => ({
        entry,
        keys: keysOf(entry, rewardKeys),
        required: false,
        requiredWhen: undefined,
        when,
      }));

const isCredentials = ({ entry }: EntryLine): boolean => entry.endsWith("-credentials");

function combine(
  line: Condition | undefined,
  change: Condition | undefined,
  report: (reason: string) => void,
): Condition | undefined {
  if (line !== undefined && change !== undefined) report("would have a line with two conditions: give `when` once");
  return line ?? change;
}

function findDuplicate(texts: readonly string[]): string | undefined {
  return texts.find((text, index) => texts.indexOf(text) < index);
}
