/** What the view Explain shows where a factory was given up, and where there is more than it lists. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { JsonObject } from "../../src/domain/json.js";
import { element, parties, payload } from "../fixtures/elements.js";
import { Browser, chromium } from "../docs-page/chromium.js";
import { bodyOf, openConsole, WIDE } from "./browser-page.js";
import { skipped } from "./console-in-browser.js";
import { serveConsole } from "./serve-console.js";

const OPERATION = "offledger.mint.v0.MintService/GetMintRequestCreateContext";
const REQUEST = { instrumentId: { admin: parties.registrar, id: "USD" }, holder: "alice" };
const onB = { synchronizerId: "sync-B", createdAt: "2026-02-01T00:00:00Z" };
/** The newer factory is alone on its synchronizer. */
const factories = [
  element("AllocationFactory", "old-factory", payload.service(), { createdAt: "2026-01-01T00:00:00Z" }),
  element("AllocationFactory", "new-factory", payload.service(), onB),
];

async function explained(contracts: readonly JsonObject[]) {
  const folder = await mkdtemp(join(tmpdir(), "offledger-console-"));
  const snapshot = join(folder, "registry.ndjson");
  await writeFile(snapshot, contracts.map((one) => `${JSON.stringify(one)}\n`).join(""));
  const served = await serveConsole({ snapshot });
  const browser = await Browser.start(chromium ?? "");
  onTestFinished(async () => {
    await browser.close();
    await served.close();
    await rm(folder, { recursive: true });
  });
  const query = new URLSearchParams({ operation: OPERATION, json: JSON.stringify(REQUEST) });
  const page = await openConsole(browser, served.url, WIDE, `#/explain?${query.toString()}`);
  await page.shows(".verdict");
  return page;
}

describe.skipIf(chromium === undefined)(`in the console${skipped}`, () => {
  test("a factory that was given up is passed over, and a paused instrument is noted", async () => {
    const paused = element("InstrumentConfiguration", "usd", payload.configuration("USD", { isPaused: true }));
    const page = await explained([...factories, paused]);
    expect(await page.texts(".verdict h2")).toEqual(["The request succeeds"]);
    expect(await page.texts("section h2")).toContain("Notes");
    const body = await bodyOf(page);
    expect(body).toContain("is paused: the choice may fail on the ledger.");
    expect(body).toContain("was tried first, but ");
  });

  test("candidates beyond those listed are counted", async () => {
    const configurations = Array.from({ length: 51 }, (_, index) =>
      element("InstrumentConfiguration", `usd-${index}`, payload.configuration("USD")),
    );
    const page = await explained([...factories.slice(0, 1), ...configurations]);
    expect(await bodyOf(page)).toContain("and 1 more");
  });
});
