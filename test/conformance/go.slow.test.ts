/** A registry in Go, written from the standard alone: nothing is found in it but the one fault that it is given. */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { Result } from "../../packages/conformance/src/check.js";
import { type Given, run } from "../../packages/conformance/src/run.js";

const isInstalled = spawnSync("go", ["version"]).status === 0;
if (!isInstalled) console.warn("skipped: go is not installed");

const waiting = "0c".repeat(33);
const known: Given = {
  registrar: "gold::1220",
  instruments: ["GOLD", "GOLD BAR"],
  sender: "alice::1220",
  receiver: "bob::1220",
  holdings: ["0d".repeat(33)],
  offer: waiting,
  allocation: waiting,
  allocationInstruction: waiting,
  replica: undefined,
  negative: true,
};

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "registry-"));
  if (isInstalled) execFileSync("go", ["build", "-o", join(folder, "registry"), "."], { cwd: "test/conformance/go" });
}, 120_000);
afterAll(() => rm(folder, { recursive: true }));

/** The checks that fail. */
async function found(fault: string): Promise<readonly string[]> {
  const registry = spawn(join(folder, "registry"), { env: { FAULT: fault }, stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(async () => {
    registry.kill();
    if (registry.exitCode === null && registry.signalCode === null) await once(registry, "exit");
  });
  const [url] = (await once(createInterface(registry.stdout), "line")) as [string];
  const results: Result[] = [];
  const { warning } = await run(url, known, { headers: {}, rate: 1_000 }, (result) => void results.push(result));
  const failed = results.filter(({ outcome }) => outcome === "failed" || outcome === "unstable");
  return [...failed.map(({ check }) => check.id), ...(warning === undefined ? [] : [warning])];
}

describe.skipIf(!isInstalled)("a registry in Go", () => {
  test("has nothing wrong", async () => {
    expect(await found("")).toEqual([]);
  });

  test.each<[fault: string, checks: readonly string[]]>([
    ["another-admin", ["info-admin"]],
    ["minor-version-0", ["supported-apis"]],
    ["decimals-11", ["decimals"]],
    ["supply-with-separators", ["total-supply"]],
    ["pages-without-end", ["paging-ends"]],
    ["listed-again", ["paging-ends"]],
    ["escaped-id", ["instrument-by-id"]],
    ["any-id", ["unknown-instrument"]],
    ["error-without-error", ["unknown-instrument"]],
    ["any-method", ["method"]],
    ["not-served", ["listed-apis"]],
    ["factory-not-disclosed", ["factory-disclosed"]],
    ["disclosed-twice", ["disclosed-once"]],
    ["no-values", ["context-values"]],
    ["null-context", ["operations-answer", "context-values"]],
    ["unknown-tag", ["context-values"]],
    ["blob-of-another", ["blobs"]],
    ["blob-in-base64url", ["blobs"]],
    ["another-template", ["blobs"]],
    ["two-synchronizers", ["one-synchronizer"]],
    ["no-synchronizer", ["one-synchronizer"]],
    ["self-called-offer", ["transfer-kind"]],
    ["foreign-admin", ["foreign-instrument"]],
    ["foreign-instrument", ["foreign-instrument"]],
    ["any-contract", ["unknown-contract"]],
    ["body-required", ["body-forms"]],
    ["500-for-malformed", ["malformed-body"]],
    ["preflight", ["preflight"]],
    ["no-origin", ["preflight"]],
    ["no-json", ["json-type"]],
    ["slashes", ["path-forms"]],
  ])("with the fault %s", async (fault, checks) => {
    expect(await found(fault)).toEqual(checks);
  });
});
