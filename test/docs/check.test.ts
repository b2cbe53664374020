/** docs/check.md shows what the program prints for the demo registry, and lists every kind of warning. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { checkSnapshot, formatSnapshotCheck } from "../../src/cli/check.js";
import { quiet } from "../fixtures/run-service.js";
import { listWarnings } from "../fixtures/warnings.js";
import { start } from "../telemetry/starting.js";

const page = readFileSync("docs/check.md", "utf8");
const block = (language: string): string =>
  new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "m").exec(page)?.[1] ?? "";

const shorten = (text: string): string =>
  text.replaceAll(/\b(00[0-9a-f]{6})[0-9a-f]{130}\b/g, "$1…").replaceAll(/1220[0-9a-f]{64}/g, "1220…");

test("the output for the demo registry", async () => {
  const path = "demo/registry.ndjson";
  const { snapshot, inventory } = await checkSnapshot(quiet(), readFileSync(path, "utf8"), Date.parse("2026-06-01"));
  const shown = `$ offledger check --snapshot ${path}\n${shorten(formatSnapshotCheck(path, snapshot, inventory))}`;
  expect(block("text")).toBe(shown);
});

test("the list of a running service", async () => {
  const app = await start({ metricsPort: 0 });
  const listed = JSON.parse(shorten(JSON.stringify(await listWarnings(app.metricsUrl)))) as {
    readonly warnings: { message: string }[];
  };
  const shown = JSON.parse(block("json")) as typeof listed;
  // Messages are shortened after the first contract id.
  for (const warning of listed.warnings) warning.message = warning.message.slice(0, warning.message.indexOf("…") + 1);
  expect(listed).toEqual(shown);
});

test("the table has every kind, in the order of the reports", async () => {
  const app = await start({ metricsPort: 0 });
  const { counts } = await listWarnings(app.metricsUrl);
  const kinds = [...page.matchAll(/^\| `([a-z]+(?:-[a-z\d]+)+)` \|/gm)].map(([, kind]) => kind);
  expect(kinds).toEqual(Object.keys(counts));
});
