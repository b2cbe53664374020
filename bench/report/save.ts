/** Writes results as JSON and as an SVG. */
import { mkdirSync, writeFileSync } from "node:fs";
import type { Machine } from "./machine.js";
import { type Row, scoreRatio } from "./row.js";
import { renderSvg } from "./svg.js";

const FOLDER = "bench/results/";

export function saveResults(name: string, rows: readonly Row[], machine: Machine, durationSeconds: number): string {
  mkdirSync(FOLDER, { recursive: true });
  const scored = rows.map((row) => {
    const score = row.ratio && scoreRatio(row.ratio);
    return score === undefined ? row : { ...row, meetsTarget: score >= 1 };
  });
  const json = JSON.stringify({ machine, durationSeconds, rows: scored }, undefined, 2);
  writeFileSync(`${FOLDER}${name}.json`, `${json}\n`);
  writeFileSync(`${FOLDER}${name}.svg`, renderSvg(rows, machine));
  return FOLDER;
}
