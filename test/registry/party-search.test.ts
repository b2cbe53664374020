/** Searches for what concerns a party: what they find among many contracts, and their bounds. */
import { describe, expect, test } from "vitest";
import { backgroundContext } from "../../src/registry/background.js";
import { findContract, PartySearcher, type PartySearcherOptions } from "../../src/registry/party-search.js";
import { NotReady, type StoreReader } from "../../src/state/port.js";
import { element, payload } from "../fixtures/elements.js";
import { storeOf, utility } from "../fixtures/in-memory.js";
import { registryOf } from "../fixtures/registries.js";
import { until } from "../fixtures/wait.js";

const times = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));
const held = (id: string, owner: string) => element("Holding", id, payload.lockedHolding(owner, "USD"));

/** Alice has more of everything than is listed; carol has a few among many, and lacks a credential. */
const store = await storeOf(
  registryOf(
    {},
    ...times(600, (at) => {
      const holder = at % 2 === 0 ? "alice" : `holder-${at}`;
      return element("Credential", `credential-${at}`, payload.credential(holder, ["holds=USD"]));
    }),
    ...times(250, (at) => element("TransferOffer", `offer-${at}`, payload.offer("alice", "bob", "USD", `lock-${at}`))),
    ...times(250, (at) => held(`lock-${at}`, "alice")),
    ...times(201, (at) => element("TransferPreapproval", `preapproval-${at}`, payload.preapproval("alice", []))),
    element("TransferPreapproval", "for-carol", payload.preapproval("carol", ["USD", "EUR"])),
    element("TransferOffer", "to-carol", payload.offer("bob", "carol", "USD", "locked-carol")),
    held("locked-carol", "bob"),
    element("MintRequest", "mint-carol", payload.mint("carol", "USD")),
    element("DvpLegAllocation", "leg-carol", payload.allocation("carol", "nobody", "USD", "gone")),
  ),
);

const searcher = (more: Partial<PartySearcherOptions> = {}): PartySearcher =>
  new PartySearcher({
    searches: utility.lookup?.partySearches ?? [],
    reader: store,
    staleReason: () => undefined,
    now: () => Date.parse("2026-06-01T00:00:00Z"),
    ...more,
  });

describe("a party", () => {
  test("is found among many contracts, with what its instructions lack", async () => {
    const { credentials, preapprovals, instructions, isComplete } = await searcher().search("carol");
    expect({ credentials, isComplete }).toEqual({ credentials: [], isComplete: true });
    expect(preapprovals).toMatchObject([{ contract: { contractId: "for-carol" }, instruments: ["USD", "EUR"] }]);
    const causes = instructions.map((one) => [one.contract.contractId, one.causes.map(({ code }) => code).toSorted()]);
    // The leg's locked holding is gone, too.
    expect(Object.fromEntries(causes)).toEqual({
      "to-carol": ["credential-missing"],
      "mint-carol": [],
      "leg-carol": ["credential-missing", "credential-missing", "holding-missing"],
    });
  });

  test("has 200 of each kind at most", async () => {
    const { credentials, preapprovals, instructions, isComplete } = await searcher().search("alice");
    expect([credentials.length, preapprovals.length, instructions.length, isComplete]).toEqual([200, 200, 200, false]);
    expect(instructions.flatMap(({ causes }) => causes)).toEqual([]);
  });
});

test("a contract that is archived is told", async () => {
  const own = await storeOf([element("TransferOffer", "offer", payload.offer("alice", "bob", "USD", "lock"))]);
  await own.apply([{ archived: "offer" }], 11);
  const found = own.read((view) => findContract(utility, backgroundContext(view, 0), "offer"));
  expect(found).toEqual({ contract: undefined, isArchived: true, calls: [] });
});

/** A store whose contracts have no end until it is opened. */
function endless() {
  let started = 0;
  let isOpen = false;
  const ids = times(1_000_000, (at) => `id-${at}`);
  const reader: StoreReader = {
    read: (use) => store.read(use),
    ids(template) {
      started++;
      return isOpen ? store.ids(template) : ids;
    },
  };
  const open = () => {
    isOpen = true;
    ids.length = 0;
  };
  return { reader, started: () => started, open };
}

describe("a search", () => {
  test("runs alone, four wait, and others are refused", async () => {
    const { reader, started, open } = endless();
    const searches = searcher({ reader });
    const outcomes = times(7, () => searches.search("carol"));
    const settled = Promise.allSettled(outcomes);
    await expect(outcomes[5]).rejects.toMatchObject({ reason: "unavailable", details: { code: "overloaded" } });
    await expect(outcomes[6]).rejects.toThrow("too many searches for parties are waiting");
    expect(started()).toBe(1);
    open();
    const statuses = (await settled).map(({ status }) => status);
    expect(statuses).toEqual([...times(5, () => "fulfilled"), "rejected", "rejected"]);
    expect(await outcomes[4]).toMatchObject({ isComplete: true, instructions: { length: 3 } });
  });

  test("ends after its time, incomplete", async () => {
    expect((await searcher({ reader: endless().reader, maxMs: 50 }).search("p")).isComplete).toBe(false);
  });

  test("ends when the service does, those that wait too", async () => {
    const { reader, started, open } = endless();
    const searches = searcher({ reader });
    const both = [searches.search("carol"), searches.search("carol")];
    await until("one has started", () => started() === 1);
    searches.close();
    open();
    for (const found of await Promise.all(both)) expect(found).toMatchObject({ isComplete: false, preapprovals: [] });
  });

  test.each<[string, Partial<PartySearcherOptions>, object]>([
    ["is stale", { staleReason: () => "away" }, { reason: "unavailable", message: "away" }],
    ["has no state", { reader: failing(new NotReady()) }, { reason: "unavailable" }],
    ["is broken", { reader: failing(new TypeError("broken")) }, { name: "TypeError", message: "broken" }],
  ])("on a store that %s says so", async (_what, more, expected) => {
    await expect(searcher(more).search("carol")).rejects.toMatchObject(expected);
  });
});

function failing(error: Error): StoreReader {
  const fail = () => {
    throw error;
  };
  return { read: fail, ids: fail };
}
