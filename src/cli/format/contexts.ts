import type { Condition, LineOptions, OperationRow } from "../../registry/utility/definition.js";
import type { ContextTable } from "../../registry/utility/changes.js";

/** The table of operations for an auditor: operations with the same row stand together. */
export function formatContexts(table: ContextTable): string {
  const namesByRow = new Map<string, string[]>();
  for (const [name, row] of Object.entries<OperationRow>(table)) {
    const text = formatRow(row);
    namesByRow.set(text, [...(namesByRow.get(text) ?? []), name]);
  }
  return Array.from(namesByRow, ([row, names]) => `${names.join("\n")}\n${row}`).join("\n");
}

function formatRow({ entries, disclosures, needsBlocklist }: OperationRow): string {
  const coversBlocklist = [...entries, ...disclosures].some(({ when }) => when === "checkBlocklist");
  const lines = [
    ...entries.flatMap(({ entry, keys: [first = "", ...others], ...options }) => [
      `  ${first}${formatOptions(`/${first}`.endsWith(`/${entry}`) ? [] : [`entry ${entry}`], options)}`,
      ...others.map((key) => `  ${key} (the same value)`),
    ]),
    ...(entries.length === 0 ? ["  no entries"] : []),
    ...disclosures.map(({ disclosure, ...options }) => `  discloses ${disclosure}${formatOptions([], options)}`),
    ...(needsBlocklist && !coversBlocklist
      ? ["  instruments with checkBlocklist: 400, no blocklist is configured"]
      : []),
  ];
  return lines.map((line) => `${line}\n`).join("");
}

/** What follows a key or a disclosure, in parentheses: `first`, whether the line is required, and its condition. */
function formatOptions(first: readonly string[], { required, requiredWhen, when }: LineOptions): string {
  const parts = [
    ...first,
    ...(required ? [requiredWhen === undefined ? "required" : `required when ${formatCondition(requiredWhen)}`] : []),
    ...(when === undefined ? [] : [`when ${formatCondition(when)}`]),
  ];
  return parts.length === 0 ? "" : ` (${parts.join(", ")})`;
}

function formatCondition(condition: Condition): string {
  if (typeof condition === "string") return condition;
  const { package: name, from, before } = condition;
  return [
    name,
    ...(from === undefined ? [] : [`from ${from}`]),
    ...(before === undefined ? [] : [`before ${before}`]),
  ].join(" ");
}
