import { expect, test } from "vitest";
import { StringInterner } from "../../src/ledger/string-interner.js";
import { heap } from "../fixtures/heap.js";

/** Equal texts cannot be told apart but by the memory that they take: 100,000 of 120 characters are 13 MB and more. */
test("equal texts take the memory of one, whatever else comes between them", () => {
  const texts = new StringInterner();
  const kept: string[] = [];
  const before = heap();
  for (let index = 0; index < 100_000; index++) {
    // Each time another text, as from a parser.
    const party = Buffer.from(`party-${index % 10}::`.padEnd(120, "1220")).toString();
    kept.push(texts.intern(party));
    texts.intern(Buffer.from(`once ${index}`).toString());
  }
  expect(heap() - before).toBeLessThan(10_000_000);
  expect(new Set(kept).size).toBe(10);
});

test("what is parsed stays what it is", () => {
  const parsed = { party: "a", list: ["a", { deep: "b", number: 1, none: null }], empty: "", long: "x".repeat(200) };
  expect(new StringInterner().internAll(structuredClone(parsed))).toEqual(parsed);
});
