import { expect, test } from "vitest";
import { StringInterner } from "../../src/ledger/string-interner.js";
import { heap } from "../fixtures/heap.js";

/** Sharing shows only in memory: 100,000 strings of 120 characters take at least 13 MB. */
test("equal strings share memory, despite strings in between", () => {
  const texts = new StringInterner();
  const kept: string[] = [];
  const before = heap();
  for (let index = 0; index < 100_000; index++) {
    // A new string each time, as from a parser.
    const party = Buffer.from(`party-${index % 10}::`.padEnd(120, "1220")).toString();
    kept.push(texts.intern(party));
    texts.intern(Buffer.from(`once ${index}`).toString());
  }
  expect(heap() - before).toBeLessThan(10_000_000);
  expect(new Set(kept).size).toBe(10);
});

test("parsed values are unchanged", () => {
  const parsed = { party: "a", list: ["a", { deep: "b", number: 1, none: null }], empty: "", long: "x".repeat(200) };
  expect(new StringInterner().internAll(structuredClone(parsed))).toEqual(parsed);
});
