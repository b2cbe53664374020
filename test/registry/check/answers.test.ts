/** Warnings are what requests are told: what they name is refused by the running service, all else is answered. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type Defect, defectsAt, type ExpectedWarning } from "../../fixtures/defects.js";
import { failingOperations } from "../../fixtures/operation-calls.js";
import { listWarnings, type ListedWarning } from "../../fixtures/warnings.js";
import { start } from "../../telemetry/starting.js";

const NOW = Date.parse("2026-06-01T00:00:00Z");

async function serve({ elements, contexts }: Defect) {
  const folder = await mkdtemp(join(tmpdir(), "offledger-warnings-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const snapshot = join(folder, "registry.ndjson");
  await writeFile(snapshot, elements.map((element) => `${JSON.stringify(element)}\n`).join(""));
  const path = join(folder, "contexts.yaml");
  if (contexts !== undefined) await writeFile(path, contexts);
  const settings = contexts === undefined ? {} : { contexts: path };
  return start({ snapshot, metricsPort: 0, ...settings }, undefined, () => NOW);
}

/** A warning in the form of an expectation; operations sorted, because their order has no meaning. */
const comparable = ({ kind, operations, status, instrument, contractId, party }: ListedWarning | ExpectedWarning) => ({
  kind,
  operations: operations.toSorted((a, b) => a.localeCompare(b)),
  status,
  instrument,
  contractId,
  party,
});

const sorted = (warnings: readonly (ListedWarning | ExpectedWarning)[]) =>
  warnings.map(comparable).toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)));

test.each(Object.entries(defectsAt(NOW)))("%s", async (_name, defect) => {
  const app = await serve(defect);
  const { warnings } = await listWarnings(app.metricsUrl);
  expect(sorted(warnings)).toEqual(sorted(defect.warnings));
  for (const { says, kind } of defect.warnings) {
    const messages = warnings.filter((warning) => warning.kind === kind).map(({ message }) => message);
    expect(messages.some((message) => message.includes(says))).toBe(true);
  }

  const refused = warnings.flatMap(({ operations, status }) =>
    status === undefined ? [] : operations.map((operation): [string, number] => [operation, status]),
  );
  expect(await failingOperations(app.url)).toEqual(Object.fromEntries(refused));
});
