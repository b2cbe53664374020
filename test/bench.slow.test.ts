/** `npm run bench` runs: each suite that needs no participant, with the least effort. Its figures are for people. */
import { expect, test } from "vitest";
import type { Effort } from "../bench/load.js";
import { measureScale } from "../bench/scale.js";
import { measureServing } from "../bench/serving.js";
import { renderTable } from "../bench/table.js";

const LEAST: Effort = { rounds: 1, seconds: 0.05, warmUp: 100 };

test("the suites measure the built service next to their baselines", { timeout: 300_000 }, async () => {
  const suites = new Map([
    ["serving", await measureServing(LEAST)],
    ["scale", await measureScale(LEAST, 2_000)],
  ]);
  const rows = [...suites.values()].flat();
  for (const { title, values, baseline } of rows) {
    expect(values, title).toEqual([expect.any(Number)]);
    for (const value of [...values, ...(baseline?.values ?? [])]) expect(value, title).toBeGreaterThan(0);
  }
  const lines = renderTable(suites).split("\n");
  // A row for each figure that docs/performance.md explains, each with its ratio.
  for (const [title, baseline] of [
    ["REST, transfer accept", "Fastify"],
    ["REST, transfer accept", "node:http"],
    ["REST, transfer accept, gzip", "Fastify, gzipSync"],
    ["gRPC, deadline", "node:http2"],
    ["gRPC, deadline", "gRPC, no deadline"],
    ["gRPC, unknown id", "gRPC, deadline"],
    ["REST, metadata/v1/info", "REST, transfer accept"],
  ])
    expect(lines.filter((line) => line.startsWith(`  ${title}  `) && line.includes(` ${baseline}: `))).toHaveLength(1);
});
