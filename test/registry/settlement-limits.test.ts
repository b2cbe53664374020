/** The settings and the registry agree on the smallest limits. */
import { expect, test } from "vitest";
import { settings } from "../../src/config/settings.js";
import { MIN_SETTLEMENT_LIMITS as min } from "../../src/registry/utility/allocation.js";

test.each([
  ["legs", settings.maxLegs, min.legs],
  ["allocations", settings.maxAllocations, min.allocations],
  ["instruments", settings.maxInstruments, min.instruments],
  ["accounts", settings.maxAccounts, min.accounts],
  ["parties", settings.maxParties, min.parties],
])(
  "the setting for %s accepts the worst case that every registry has to support, and nothing below",
  (_, setting, limit) => {
    expect(setting.parse(String(limit))).toBe(limit);
    expect(setting.parse(String(limit - 1))).toBeUndefined();
    expect(setting.default).toBeGreaterThanOrEqual(limit);
  },
);
