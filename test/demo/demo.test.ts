import { readFileSync } from "node:fs";
import type { JsonObject } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { elements } from "../../demo/registry.js";

const text = readFileSync("demo/registry.ndjson", "utf8");
const lines = text.trimEnd().split("\n");

interface Created {
  readonly contractId: string;
  readonly templateId: string;
  readonly createdEventBlob: string;
  readonly createArgument: JsonObject;
}

function created(line: string): Created {
  const { contractEntry } = JSON.parse(line) as { contractEntry: Record<string, { createdEvent: Created }> };
  const [entry] = Object.values(contractEntry);
  if (entry === undefined) throw new Error(`no entry in ${line}`);
  return entry.createdEvent;
}

test("the file is up to date with its source: npm run demo writes it", () => {
  expect(lines).toEqual(elements.map((element) => JSON.stringify(element)));
});

describe("ids and blobs have the form of a real ledger", () => {
  test.each(lines.map((line) => created(line)))("$templateId", ({ contractId, templateId, createdEventBlob }) => {
    expect(contractId).toMatch(/^00[0-9a-f]{136,}$/);
    expect(templateId).toMatch(/^[0-9a-f]{64}:[\w.]+:\w+$/);
    expect(createdEventBlob.length).toBeGreaterThan(400);
    expect(Buffer.from(createdEventBlob, "base64").toString("base64")).toBe(createdEventBlob);
  });

  test("party ids", () => {
    const parties = new Set(text.match(/[\w-]+::[0-9a-f]+/g));
    expect(parties.size).toBeGreaterThan(9);
    for (const party of parties) expect(party).toMatch(/^[\w-]+::1220[0-9a-f]{64}$/);
  });
});

test("no contract id appears twice", () => {
  const ids = lines.map((line) => created(line).contractId);
  expect(new Set(ids).size).toBe(ids.length);
});
