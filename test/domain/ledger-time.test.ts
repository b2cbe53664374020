import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseLedgerTime } from "../../src/domain/ledger-time.js";

describe("a time of the ledger in microseconds", () => {
  test.each([
    ["1970-01-01T00:00:00Z", 0],
    ["1970-01-01T00:00:00.000001Z", 1],
    ["1970-01-01T00:00:01Z", 1_000_000],
    ["2026-01-05T09:00:00Z", 1_767_603_600_000_000],
    ["2026-01-05T09:00:00.1Z", 1_767_603_600_100_000],
    ["2026-01-05T09:00:00.12Z", 1_767_603_600_120_000],
    ["2026-01-05T09:00:00.123Z", 1_767_603_600_123_000],
    ["2026-01-05T09:00:00.123456Z", 1_767_603_600_123_456],
    ["2026-01-05T09:00:00.000456Z", 1_767_603_600_000_456],
    ["2026-01-05T09:00:00.999999Z", 1_767_603_600_999_999],
    // Finer digits are cut, not rounded.
    ["2026-01-05T09:00:00.123456789Z", 1_767_603_600_123_456],
    ["2026-01-05T09:00:00.9999999Z", 1_767_603_600_999_999],
    ["2024-02-29T23:59:59Z", 1_709_251_199_000_000],
    ["1969-12-31T23:59:59Z", -1_000_000],
    ["1969-12-31T23:59:59.999999Z", -1],
    ["1969-12-31T23:59:59.5Z", -500_000],
  ])("%s is %d", (time, expected) => {
    expect(parseLedgerTime(time)).toBe(expected);
  });

  test("gives back every microsecond that it was written from", () => {
    const until2200 = 7_258_118_400_000_000;
    fc.assert(
      fc.property(fc.integer({ min: -until2200, max: until2200 }), (time) => {
        const millis = Math.floor(time / 1000);
        const digits = String(time - millis * 1000).padStart(3, "0");
        expect(parseLedgerTime(new Date(millis).toISOString().replace("Z", `${digits}Z`))).toBe(time);
      }),
    );
  });

  test.each([
    "",
    "now",
    "2026-01-05",
    "2026-01-05T09:00Z",
    "2026-01-05T09:00:00",
    "2026-01-05 09:00:00Z",
    "2026-01-05T09:00:00z",
    "2026-01-05T09:00:00+00:00",
    "2026-01-05T09:00:00+01:00",
    "2026-01-05T09:00:00.Z",
    "2026-01-05T09:00:00,5Z",
    "2026-01-05T09:00:00.1234567890Z",
    "2026-1-5T09:00:00Z",
    "+002026-01-05T09:00:00Z",
    "2026-13-05T09:00:00Z",
    "2026-00-05T09:00:00Z",
    "2026-01-32T09:00:00Z",
    "2026-01-05T25:00:00Z",
    "2026-01-05T09:60:00Z",
    "2026-01-05T09:00:60Z",
    " 2026-01-05T09:00:00Z",
    "2026-01-05T09:00:00Z\n",
    "1767603600",
  ])("is not made of %j", (time) => {
    expect(() => parseLedgerTime(time)).toThrow(
      new Error(`invalid time, expected a format like 2026-01-31T12:00:00.123456Z: ${time}`),
    );
  });
});
