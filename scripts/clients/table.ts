/** The list of tested clients in docs/clients.md, between two markers. */
import { readFileSync, writeFileSync } from "node:fs";
import type { Client, Stack } from "./folders.js";
import type { Check } from "./run-client.js";

export const document = "docs/clients.md";
const BEGIN = "<!-- clients: begin, written by npm run test:clients -- --write -->";
const END = "<!-- clients: end -->";

export interface Result {
  readonly client: Client;
  readonly stack: Stack;
  readonly checks: readonly Check[];
}

export function tableOf(results: readonly Result[]): string {
  return results
    .map(({ client, stack, checks }) => `${key(client, stack)} ${checks.filter(({ ok }) => ok).length} checks`)
    .join("\n");
}

export function writeTable(results: readonly Result[]): void {
  const { before, rows, after } = readDocument();
  const tested = new Set(results.map(({ client, stack }) => key(client, stack)));
  // A client that this machine could not run keeps its row.
  const kept = rows.filter((row) => ![...tested].some((one) => row.startsWith(one)));
  const sorted = [...kept, ...tableOf(results).split("\n")].toSorted();
  writeFileSync(document, `${before}${BEGIN}\n\n${sorted.join("\n")}\n\n${END}${after}`);
}

/** What is wrong with the document: clients without a row, and rows without a client. */
export function tableErrors(clients: readonly Client[]): string[] {
  const { rows } = readDocument();
  const keys = clients.flatMap((client) => client.stacks.map((stack) => key(client, stack)));
  return [
    ...keys.filter((one) => !rows.some((row) => row.startsWith(one))).map((one) => `${document} must list ${one}`),
    ...rows
      .filter((row) => !keys.some((one) => row.startsWith(one)))
      .map((row) => `${document} lists a client that clients/ does not have: ${row}`),
  ];
}

const key = ({ language }: Client, { name, version }: Stack): string => `- ${language}, ${name} ${version}:`;

function readDocument(): { before: string; rows: string[]; after: string } {
  const text = readFileSync(document, "utf8");
  const [before, rest] = text.split(BEGIN);
  const [table, after] = rest?.split(END) ?? [];
  if (before === undefined || table === undefined || after === undefined) {
    throw new Error(`${document} must have the markers "${BEGIN}" and "${END}"`);
  }
  return { before, rows: table.trim().split("\n"), after };
}
