/** The bounds of searches: one at a time, few that wait, and a time for each. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { PartySearcher, type PartySearcherOptions } from "../../../src/registry/party-search.js";
import type { PartySearch } from "../../../src/registry/sdk/registry.js";
import type { StoreScan } from "../../../src/store/port.js";
import { credential } from "../../../src/registry/utility/templates.js";
import { type ServiceWithConsole, serviceWithConsole } from "../../fixtures/observed-service.js";
import { until } from "../../fixtures/wait.js";

let service: ServiceWithConsole;
beforeAll(async () => {
  service = await serviceWithConsole();
});
afterAll(() => service.close());

/** Finds every credential as a preapproval, which costs nothing. */
const everything: PartySearch = {
  template: credential,
  find: (_context, contracts) => ({
    preapprovals: contracts.map((contract) => ({ contract, registrar: "", instruments: [] })),
  }),
};

const searcher = (more: Partial<PartySearcherOptions>): PartySearcher =>
  new PartySearcher({
    searches: [everything],
    openScan: () => service.source.openScan(),
    staleReason: () => undefined,
    now: Date.now,
    ...more,
  });

/** A scan of the store that lists ids only when `open` is called. */
function gated() {
  let open: (() => void) | undefined;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  let started = 0;
  const openScan = (): StoreScan => {
    started++;
    const scan = service.source.openScan();
    return { read: (use) => scan.read(use), ids: async (template) => gate.then(() => scan.ids(template)) };
  };
  return { openScan, started: () => started, open: () => open?.() };
}

test("one search runs, four wait, and others are refused", async () => {
  const { openScan, started, open } = gated();
  const searches = searcher({ openScan });
  const outcomes = Array.from({ length: 7 }, () => searches.search("p"));
  const settled = Promise.allSettled(outcomes);
  await expect(outcomes[5]).rejects.toThrow("too many searches for parties are waiting");
  await expect(outcomes[6]).rejects.toMatchObject({ reason: "unavailable" });
  expect(started()).toBe(1);
  open();
  expect((await settled).map(({ status }) => status)).toEqual([
    ...Array.from({ length: 5 }, () => "fulfilled"),
    ...Array.from({ length: 2 }, () => "rejected"),
  ]);
  expect((await outcomes[4])?.preapprovals.length).toBeGreaterThan(2);
  expect((await outcomes[4])?.isComplete).toBe(true);
});

test("a search ends after its time, incomplete", async () => {
  const endless: StoreScan = {
    ids: async () => ({ ids: Array.from({ length: 1_000_000 }, (_, at) => `id-${at}`), isComplete: true }),
    read: (use) => service.source.openScan().read(use),
  };
  const found = await searcher({ openScan: () => endless, maxMs: 50 }).search("p");
  expect(found.isComplete).toBe(false);
});

test("closing ends a search, and those that wait", async () => {
  const { openScan, started, open } = gated();
  const searches = searcher({ openScan });
  const both = [searches.search("p"), searches.search("p")];
  await until("one has started", () => started() === 1);
  searches.close();
  open();
  for (const { isComplete, preapprovals } of await Promise.all(both)) {
    expect(isComplete).toBe(false);
    expect(preapprovals).toEqual([]);
  }
});

test("a store that is stale, or lists only a part, says so", async () => {
  const stale = searcher({ staleReason: () => "the ledger is away" });
  await expect(stale.search("p")).rejects.toMatchObject({ reason: "unavailable", message: "the ledger is away" });
  const scan = service.source.openScan();
  const partly: StoreScan = {
    ids: async (template) => ({ ...(await scan.ids(template)), isComplete: false }),
    read: (use) => scan.read(use),
  };
  expect((await searcher({ openScan: () => partly }).search("p")).isComplete).toBe(false);
});
