import { expect, test } from "vitest";
import { MAX_KEPT, WarningCollector } from "../../../src/registry/check/scan.js";
import type { Warning } from "../../../src/registry/sdk/registry.js";

const warning = (more: Partial<Warning> = {}): Warning => ({
  kind: "no-rule",
  registrar: "registrar",
  operations: ["settlement-factory"],
  refusal: "not-found",
  problem: "there is no rule",
  remedy: "Create one",
  ...more,
});

test("warnings that differ only in their operations are one", () => {
  const collector = new WarningCollector();
  collector.add(warning());
  collector.add(warning({ operations: ["allocation-factory", "settlement-factory"] }));
  expect(collector.warnings()).toEqual([warning({ operations: ["settlement-factory", "allocation-factory"] })]);
  expect(collector.total).toBe(1);
});

test.each<[string, Partial<Warning>]>([
  ["kind", { kind: "no-factory" }],
  ["registrar", { registrar: "other" }],
  ["instrument", { instrument: "USD" }],
  ["contract", { contractId: "a" }],
  ["party", { party: "alice" }],
  ["refusal", { refusal: undefined }],
  ["problem", { problem: "other" }],
])("warnings of another %s are apart", (_what, more) => {
  const collector = new WarningCollector();
  collector.add(warning());
  collector.add(warning(more));
  expect(collector.total).toBe(2);
});

test("counts every kind, and lists them in a fixed order", () => {
  const collector = new WarningCollector();
  collector.add(warning({ kind: "credential-expires" }));
  collector.add(warning({ kind: "no-factory" }));
  expect(collector.warnings().map(({ kind }) => kind)).toEqual(["no-factory", "credential-expires"]);
  expect(collector.counts).toEqual({
    "no-factory": 1,
    "no-configuration": 0,
    "no-rule": 0,
    "several-groups": 0,
    "ambiguous-identifier": 0,
    "configuration-in-reassignment": 0,
    "contract-in-reassignment": 0,
    "instruction-in-reassignment": 0,
    "no-common-synchronizer": 0,
    "blocklist-not-configured": 0,
    "contract-missing": 0,
    "holding-missing": 0,
    "instruction-expired": 0,
    "credentials-missing": 0,
    "requirement-unmet": 0,
    "credentials-split": 0,
    "credential-expires": 1,
    "no-version-2": 0,
  });
});

test("keeps the first 1,000 of a kind, and counts the others", () => {
  const collector = new WarningCollector();
  expect(MAX_KEPT).toBe(1_000);
  for (let id = 0; id < 1_500; id++) collector.add(warning({ contractId: String(id) }));
  collector.add(warning({ contractId: "0", operations: ["allocation-factory"] }));
  collector.add(warning({ kind: "no-factory" }));
  expect(collector.counts["no-rule"]).toBe(1_500);
  expect(collector.total).toBe(1_501);
  expect(collector.warnings()).toHaveLength(1_001);
  expect(collector.warnings(2).map(({ contractId }) => contractId)).toEqual([undefined, "0", "1"]);
});

test("rejects an unknown kind, which a module in plain JavaScript may have", () => {
  const unknown = { ...warning(), kind: "bad" } as unknown as Warning;
  expect(() => new WarningCollector().add(unknown)).toThrow("a check returned a warning of the unknown kind bad");
});
