/** Index keys are memoized, except for long values. */
import { expect, test } from "vitest";
import { indexKeys } from "../../src/registry/utility/index-keys.js";
import { heap } from "../fixtures/heap.js";

test("long values are not kept", () => {
  const before = heap();
  for (let index = 0; index < 200; index++) {
    const long = `${index} `.padEnd(500_000, "x");
    expect(indexKeys.factory(long)).toContain(long);
    expect(indexKeys.preapproval(long, "registrar::1220")).toContain(long);
    expect(indexKeys.credential("issuer::1220", long)).toContain(long);
  }
  // The values have 300 MB.
  expect(heap() - before).toBeLessThan(50_000_000);
});

test("memoized keys equal new ones, and keys are unique", () => {
  for (const length of [1, 299, 300, 301, 600, 601]) {
    const value = "p".repeat(length);
    expect(indexKeys.factory(value)).toBe(indexKeys.factory(value));
    expect(indexKeys.credential(value, "i")).toBe(indexKeys.credential(value, "i"));
    expect(indexKeys.credential(value, "i")).not.toBe(indexKeys.credential("i", value));
    expect(indexKeys.credential(value, "i")).not.toBe(indexKeys.preapproval(value, "i"));
  }
});
