/** The cache of large compressed messages. */
import { expect, test } from "vitest";
import { RecentResults } from "../../../src/transport/compression/recent-results.js";

const KB = 1_024;
const message = (name: string, length = 20 * KB): Buffer => Buffer.alloc(length, name);

test("finds a message by its content; the four used last are kept", () => {
  const recent = new RecentResults();
  const names = ["a", "b", "c", "d"];
  for (const name of names) recent.add(message(name), Buffer.from(`gzip of ${name}`));
  expect(names.map((name) => recent.find(message(name))?.toString())).toEqual(names.map((name) => `gzip of ${name}`));
  recent.find(message("a"));
  recent.add(message("e"), Buffer.from("gzip of e"));
  expect(["a", "b", "c", "d", "e"].map((name) => recent.find(message(name)) !== undefined)).toEqual([
    true,
    false,
    true,
    true,
    true,
  ]);
  expect(recent.find(message("a", 21 * KB))).toBeUndefined();
});

test.each([
  [16 * KB - 1, false],
  [16 * KB, true],
  [KB * KB, true],
  [KB * KB + 1, false],
])("a message of %d bytes is kept: %s", (length, isKept) => {
  const recent = new RecentResults();
  recent.add(message("a", length), Buffer.from("gzip"));
  expect(recent.find(message("a", length)) !== undefined).toBe(isKept);
});
