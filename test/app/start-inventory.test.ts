/** What a started service says it serves: the check at start is bounded. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { formatStart } from "../../src/cli/serve.js";
import { element, payload } from "../fixtures/elements.js";
import { completeElements } from "../fixtures/operation-calls.js";
import { start } from "../telemetry/starting.js";

async function started(offers: number) {
  const folder = await mkdtemp(join(tmpdir(), "offledger-start-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const snapshot = join(folder, "registry.ndjson");
  const added = Array.from({ length: offers }, (_, index) =>
    element("TransferOffer", `offer-${index}`, payload.offer("alice", "bob", "USD", `gone-${index}`)),
  );
  const lines = completeElements({ added }).map((one) => `${JSON.stringify(one)}\n`);
  await writeFile(snapshot, lines.join(""));
  return start({ snapshot });
}

test("a small file is checked completely", async () => {
  const app = await started(20);
  const text = formatStart(app);
  expect(text).toContain("warning: holding-missing (20)\n");
  expect(text.match(/the locked holding gone-/g)).toHaveLength(10);
  expect(text).not.toContain("not checked");
});

test("of a large file 1,000 contracts of each template are checked, and it says so", async () => {
  const app = await started(1_500);
  const text = formatStart(app);
  // The offer of the complete registry is one of 1,501.
  expect(text).toContain("\n501 more contracts are not checked here: see offledger check\n");
  expect(app.inventory?.warningCounts?.["holding-missing"]).toBeGreaterThan(990);
});
