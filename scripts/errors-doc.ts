/** Writes the tables of docs/errors.md from the table of causes. */
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { findings, reasons, refusals, rejections } from "../src/domain/causes.js";

const PAGE = "docs/errors.md";

const row = (cells: readonly (string | number)[]): string => `| ${cells.join(" | ")} |`;

const rejected = Object.entries(rejections).map(([code, { reason, words }]) =>
  row([`\`${code.toUpperCase().replaceAll("-", "_")}\``, `\`${reasons[reason][1]}\``, words]),
);

const refused = Object.entries({ ...refusals, ...findings }).map(
  ([code, { reason, words, help, fields, answered }]) => {
    const status = answered === "" ? reasons[reason][0] : "";
    return row([`\`${code}\``, status, fields, words, help.replaceAll(/\{(\w+)\}/g, "*$1*")]);
  },
);

const tables: Readonly<Record<string, readonly string[]>> = {
  "| reason | code | cause |": rejected,
  "| code | status | fields | what is wrong | what helps |": refused,
};

/** The page with the tables as they should be. */
export function withTables(page: string): string {
  const lines = page.split("\n");
  for (const [header, rows] of Object.entries(tables)) {
    const at = lines.indexOf(header);
    if (at === -1) throw new Error(`${PAGE} has no table ${header}`);
    const end = lines.findIndex((line, index) => index > at && !line.startsWith("|"));
    lines.splice(at + 2, end - at - 2, ...rows);
  }
  return lines.join("\n");
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href)
  writeFileSync(PAGE, withTables(readFileSync(PAGE, "utf8")));
