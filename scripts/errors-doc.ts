/** Writes the lists of docs/errors.md from the table of causes. */
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { findings, reasons, refusals, rejections } from "../src/domain/causes.js";

const PAGE = "docs/errors.md";

const rejected = Object.entries(rejections).map(
  ([code, { reason, words }]) =>
    `- \`${code.toUpperCase().replaceAll("-", "_")}\`, ${reasons[reason][0]}, \`${reasons[reason][1]}\`: ${words}`,
);

const refused = Object.entries({ ...refusals, ...findings }).map(
  ([code, { reason, words, help, fields, answered }], index, all) => {
    const status = answered === "" ? `, ${reasons[reason][0]}` : "";
    const about = fields === "" ? "" : ` (${fields})`;
    const helps = help === all[index - 1]?.[1].help ? "The same" : help.replaceAll(/\{(\w+)\}/g, "*$1*");
    return `- \`${code}\`${status}${about}: ${words}${help === "" ? "" : `. ${helps}`}`;
  },
);

/** By the comment before each. */
const lists: Readonly<Record<string, readonly string[]>> = {
  "<!-- reasons, by npm run errors -->": rejected,
  "<!-- codes, by npm run errors -->": refused,
};

/** The page with the lists as they should be. */
export function withLists(page: string): string {
  const lines = page.split("\n");
  for (const [comment, rows] of Object.entries(lists)) {
    const at = lines.indexOf(comment);
    if (at === -1) throw new Error(`${PAGE} has no line ${comment}`);
    const end = lines.findIndex((line, index) => index > at + 1 && !line.startsWith("- "));
    lines.splice(at + 1, end - at - 1, "", ...rows);
  }
  return lines.join("\n");
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href)
  writeFileSync(PAGE, withLists(readFileSync(PAGE, "utf8")));
