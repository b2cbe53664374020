import { describe, expect, test } from "vitest";
import { retryDelay } from "../../../src/ingest/incidents.js";
import { LedgerError, type LedgerErrorKind } from "../../../src/ledger/participant/errors.js";

const kinds = [
  "pruned",
  "ahead",
  "denied",
  "busy",
  "internal",
  "lost",
  "unreadable",
  "incomplete",
  "refused",
] as const satisfies LedgerErrorKind[];
const delayAfter = (kind: LedgerErrorKind, failures: number, random: number): number =>
  retryDelay(new LedgerError(kind, "of the test"), failures, () => random);
const longest = (kind: LedgerErrorKind, failures: number): number => delayAfter(kind, failures, 1);

describe.each(kinds)("the delay after %s", (kind) => {
  test("grows with each failure in a row up to a bound", () => {
    const pauses = Array.from({ length: 2_000 }, (_, index) => longest(kind, index + 1));
    expect(pauses).toEqual(pauses.toSorted((a, b) => a - b));
    expect(pauses.at(-1)).toBeLessThanOrEqual(60_000);
    expect(pauses.at(-1)).toBeGreaterThanOrEqual(10_000);
    expect(pauses[20]).toBe(pauses.at(-1));
  });

  test("doubles from the second failure on until the bound", () => {
    const [second, third] = [longest(kind, 2), longest(kind, 3)];
    expect(second).toBeGreaterThan(0);
    expect(third).toBe(second * 2);
  });

  test("is between half of the maximum and the maximum", () => {
    for (const failures of [1, 2, 3, 7, 100]) {
      const all = longest(kind, failures);
      expect(delayAfter(kind, failures, 0)).toBe(all / 2);
      expect(delayAfter(kind, failures, 0.5)).toBe(all * 0.75);
    }
  });
});

test("the first retry with a new snapshot or token is immediate", () => {
  expect(longest("pruned", 1)).toBe(0);
  expect(longest("ahead", 1)).toBe(0);
  expect(longest("denied", 1)).toBe(0);
});

test("errors of the configuration are retried slowly, lost connections soon", () => {
  expect(longest("refused", 1)).toBeGreaterThanOrEqual(1_000);
  expect(longest("denied", 100)).toBe(60_000);
  expect(longest("lost", 1)).toBeLessThanOrEqual(200);
  expect(longest("lost", 1)).toBeGreaterThan(0);
});

test("an internal error of the participant is retried slowly", () => {
  expect(longest("internal", 1)).toBeGreaterThanOrEqual(2_000);
  expect(longest("internal", 100)).toBe(60_000);
});

test("the participant is not asked again before it wants to be", () => {
  const busy = new LedgerError("busy", "of the test", "MAXIMUM_NUMBER_OF_STREAMS", { retryMs: 1_000 });
  expect(retryDelay(busy, 1, () => 0)).toBe(1_000);
  expect(retryDelay(busy, 100, () => 1)).toBe(10_000);
  const denied = new LedgerError("denied", "of the test", undefined, { retryMs: 500 });
  expect(retryDelay(denied, 1, () => 0)).toBe(500);
});
