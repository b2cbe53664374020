import type { Condition, ContextTable, LineOptions, OperationRow } from "../registry/utility/contexts/table.js";

/** The table of operations for an auditor: operations with the same row stand together. */
export function formatContexts(table: ContextTable): string {
  const byRow = new Map<string, { readonly names: string[]; readonly row: OperationRow }>();
  for (const [name, row] of Object.entries<OperationRow>(table)) {
    const key = JSON.stringify(row);
    const known = byRow.get(key);
    if (known === undefined) byRow.set(key, { names: [name], row });
    else known.names.push(name);
  }
  return [...byRow.values()].map(({ names, row }) => formatRow(names, row)).join("\n");
}

function formatRow(names: readonly string[], { entries, disclosures, needsBlocklist }: OperationRow): string {
  const coversBlocklist = [...entries, ...disclosures].some(({ when }) => when === "checkBlocklist");
  return [
    ...names,
    ...entries.flatMap(({ entry, keys, ...options }) => [
      `  ${keys[0]}${formatOptions(entry, keys[0] ?? "", options)}`,
      ...keys.slice(1).map((key) => `  ${key} (the same value)`),
    ]),
    ...(entries.length === 0 ? ["  no entries"] : []),
    ...disclosures.map(({ disclosure, ...options }) => `  discloses ${disclosure}${formatOptions("", "", options)}`),
    ...(needsBlocklist && !coversBlocklist
      ? ["  instruments with checkBlocklist: 400, no blocklist is configured"]
      : []),
    "",
  ].join("\n");
}

/** The entry if its name is not that of the key, whether it is required, and its condition. */
function formatOptions(entry: string, key: string, { required, requiredWhen, when }: LineOptions): string {
  const parts = [
    ...(entry === "" || key.endsWith(`/${entry}`) ? [] : [`entry ${entry}`]),
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
