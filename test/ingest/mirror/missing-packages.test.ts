/** A participant that lacks a package is followed without it, which is looked for beside. In virtual time. */
import { expect, test } from "vitest";
import { mirrored } from "../../simulation/mirrored.js";
import { offer } from "../../simulation/script.js";

const APP = "utility-registry-app-v0";
const HOLDING = "utility-registry-holding-v0";
const MINUTE = 60_000;

/** A mirror that has followed for some time without a package. */
async function withoutPackage() {
  const setup = mirrored({ asked: [APP, HOLDING], packageNames: [APP] });
  await setup.advance(5_000);
  expect(setup.mirror.notReadyReason()).toBeUndefined();
  return setup;
}

type Setup = Awaited<ReturnType<typeof withoutPackage>>;

const named = ({ logged }: Setup) => logged.filter((line) => line.startsWith("warn the participant lacks packages"));

/** How a request for an unknown contract ends, which waits for the end of the ledger. */
async function ask({ mirror, advance }: Setup): Promise<string | undefined> {
  const asking = { last: undefined as string | undefined };
  const asked = (async () => {
    for await (const progress of mirror.catchUp()) asking.last = progress;
  })();
  await advance(1_500);
  await asked;
  return asking.last;
}

test.each<[string, (setup: Setup) => void]>([
  ["the search finds nothing", () => undefined],
  ["the search fails", ({ participant }) => participant.searchFaults.push(...Array<"cut">(100).fill("cut"))],
  [
    "the search is not answered",
    ({ participant }) => participant.searchFaults.push(...Array<"unanswered">(100).fill("unanswered")),
  ],
])("it is ready all the time, and an unknown contract is known not to exist, while %s", async (_how, search) => {
  const setup = await withoutPackage();
  search(setup);
  for (let second = 0; second < 150; second += 3) {
    setup.ledger.elsewhere();
    await setup.advance(1_500);
    expect(await ask(setup)).toBe("reached");
    expect(setup.mirror.notReadyReason()).toBeUndefined();
    expect(setup.lag.status.age).toBeLessThan(3_000);
  }
});

test.each([
  [10_000, ""],
  [40_000, "the connection to the participant was lost"],
  [10 * MINUTE, "the connection to the participant was lost"],
])("after an outage of %d ms it is ready as soon as it follows", async (ms, incident) => {
  const setup = await withoutPackage();
  setup.participant.stop();
  await setup.advance(ms);
  const reason = setup.mirror.notReadyReason() ?? "";
  expect(reason).toContain(incident);
  expect(reason).not.toContain(HOLDING);
  setup.participant.start();
  setup.ledger.transact([{ create: offer("after") }]);
  // The longest pause between two attempts, and a poll.
  await setup.advance(12_000);
  expect(setup.mirror.notReadyReason()).toBeUndefined();
  expect(setup.lag.status.age).toBeLessThan(3_000);
  expect(await ask(setup)).toBe("reached");
  expect(named(setup)).toHaveLength(1);
});

test("it is named once in the log, and a snapshot is taken once it is found", async () => {
  const setup = await withoutPackage();
  await setup.advance(5 * MINUTE);
  expect(named(setup)).toHaveLength(1);
  const taken = setup.snapshots.length;
  setup.participant.packageNames.add(HOLDING);
  await setup.advance(31_000);
  expect(setup.client.missing).toEqual([]);
  expect(setup.snapshots).toHaveLength(taken + 1);
});

test("another process takes a snapshot where contracts are left out since the store was filled", async () => {
  const { ledger, participant, store, client, advance } = mirrored({ asked: [APP, HOLDING] });
  const updateAfter = async (id: string) => {
    ledger.transact([{ create: offer(id) }]);
    await advance(5_000);
    return store.checkpoint?.updateId;
  };
  await advance(5_000);
  expect(await updateAfter("second")).toBeDefined();
  participant.stop();
  participant.packageNames.delete(HOLDING);
  participant.start();
  await advance(5_000);
  expect(client.missing).toEqual([HOLDING]);
  expect(await updateAfter("third")).toBeUndefined();
  expect(store.read((view) => view.templateCounts()).map(({ count }) => count)).toEqual([3]);
});
