/** Keeps what was found: for programs as JSON, for people as a picture. */
import { mkdirSync, writeFileSync } from "node:fs";
import type { Machine } from "./machine.js";
import { type Row, share } from "./row.js";
import { picture } from "./svg.js";

/** Below the project, where npm runs scripts. */
const folder = "bench/results/";

/** Writes NAME.json and NAME.svg, and gives their folder. */
export function save(name: string, rows: readonly Row[], on: Machine, tookSeconds: number): string {
  mkdirSync(folder, { recursive: true });
  const judged = rows.map((row) => {
    const near = row.ratio && share(row.ratio);
    return near === undefined ? row : { ...row, isReached: near >= 1 };
  });
  writeFileSync(
    `${folder}${name}.json`,
    `${JSON.stringify({ machine: on, tookSeconds, rows: judged }, undefined, 2)}\n`,
  );
  writeFileSync(`${folder}${name}.svg`, picture(rows, on));
  return folder;
}
