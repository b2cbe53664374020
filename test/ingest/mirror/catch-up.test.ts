/** How the store is brought to the ledger's end: by polls, and for requests that wait. In virtual time. */
import { describe, expect, test } from "vitest";
import type { CatchUpProgress } from "../../../src/domain/ledger.js";
import type { UpdateStream } from "../../../src/ledger/participant/client.js";
import { LedgerError } from "../../../src/ledger/participant/errors.js";
import { transferOffer } from "../../../src/registry/utility/templates.js";
import { gate } from "../../fixtures/wait.js";
import { mirrored } from "../../simulation/mirrored.js";
import { offer } from "../../simulation/script.js";

const READ_WAIT_MS = 1_000;
/** One way. */
const LATENCY_MS = 2;
/** A read of the end, the opening of a fetch, a ping and the fetch, of two ways each. */
const ROUND_TRIPS_MS = 8 * LATENCY_MS;
/** Longer than any test: nothing may depend on checkpoints. */
const CHECKPOINT_MS = 600_000;

/** Times are in milliseconds since the request. */
interface Asking {
  readonly progress: CatchUpProgress[];
  found: number | undefined;
  ended: number | undefined;
}

/** A mirror that has followed a ledger for three polls. */
async function following() {
  const setup = mirrored({ checkpointMs: CHECKPOINT_MS, limits: { unreadyAfter: 3_000, staleAfter: 60_000 } });
  const { advance, client, clock, ledger, mirror, participant, store } = setup;
  // Every message takes the same time.
  participant.latency = () => LATENCY_MS;
  const create = (contractId: string) => ledger.transact([{ create: offer(contractId) }]);
  const isStored = (contractId: string): boolean =>
    store.read((view) => view.byId(transferOffer, contractId) !== undefined);
  /** A request for a contract that is missing waits. */
  const ask = (contractId = "nowhere"): Asking => {
    const asking: Asking = { progress: [], found: undefined, ended: undefined };
    const asked = clock.now;
    void (async () => {
      for await (const progress of mirror.catchUp()) {
        asking.progress.push(progress);
        if (!isStored(contractId)) continue;
        asking.found = clock.now - asked;
        break;
      }
      asking.ended = clock.now - asked;
    })();
    return asking;
  };
  await advance(3_000);
  // With the id of an update the mirror can resume.
  create("second");
  await advance(1_500);
  expect(mirror.notReadyReason()).toBeUndefined();
  client.fetches.length = 0;
  client.reads = 0;
  setup.logged.length = 0;
  /** Without the details. */
  const logged = () => setup.logged.map((line) => line.replace(/ \{.*\}$/, ""));
  const silence = () => participant.wires.forEach((wire) => void (wire.isSilent = true));
  return { ...setup, logged, create, ask, silence };
}

type Setup = Awaited<ReturnType<typeof following>>;

/** A stream that is open and delivers nothing, and fails when it is closed or the gate is opened. */
function silent(
  stream: UpdateStream,
  failure = new LedgerError("lost", "the stream was closed"),
  failing = gate(),
): UpdateStream {
  return {
    hasEnded: false,
    isResponsive: () => stream.isResponsive(),
    close() {
      stream.close();
      failing.open();
    },
    [Symbol.asyncIterator]: () => ({
      async next() {
        await failing.opened;
        throw failure;
      },
    }),
  };
}

describe("a request for an unknown contract", () => {
  test("ends at once on a ledger on which nothing happens, without a fetch", async () => {
    const { ask, advance, client } = await following();
    const asking = ask();
    await advance(READ_WAIT_MS);
    expect(asking.progress).toEqual(["reached"]);
    expect(asking.ended).toBeLessThanOrEqual(ROUND_TRIPS_MS);
    expect(client.fetches).toEqual([]);
  });

  test("ends after one fetch up to the ledger's end while others write", async () => {
    const { ask, advance, ledger, client } = await following();
    const after = ledger.end;
    for (let count = 0; count < 5; count++) ledger.elsewhere();
    const asking = ask();
    await advance(ROUND_TRIPS_MS);
    expect(asking.progress.at(-1)).toBe("reached");
    expect(client.fetches).toEqual([{ after, upTo: ledger.end }]);
  });

  test("ends within two fetches at any traffic of others", async () => {
    const { ask, advance, ledger } = await following();
    const asked: Asking[] = [];
    for (let count = 0; count < 400; count++) {
      ledger.elsewhere();
      if (count % 7 === 0) asked.push(ask());
      await advance(count % 3);
    }
    await advance(READ_WAIT_MS);
    for (const { progress, ended } of asked) {
      expect(progress.at(-1)).toBe("reached");
      expect(ended).toBeLessThanOrEqual(3 * ROUND_TRIPS_MS);
    }
  });

  test("ends although some reads of the end fail", async () => {
    const { ask, advance, participant } = await following();
    participant.callFaults.push("busy", "busy", "busy");
    const asking = ask();
    await advance(READ_WAIT_MS);
    expect(asking.progress).toEqual(["reached"]);
    expect(asking.ended).toBeLessThan(500);
  });
});

test("a contract that the stream does not deliver is found by the fetch", async () => {
  const { ask, advance, create, silence } = await following();
  silence();
  create("new");
  const asking = ask("new");
  await advance(READ_WAIT_MS);
  expect(asking.found).toBeLessThanOrEqual(ROUND_TRIPS_MS);
});

test("a contract is found as soon as it is applied, before the end is reached", async () => {
  const { ask, advance, create, client } = await following();
  client.fetch = silent;
  create("new");
  const asking = ask("new");
  await advance(READ_WAIT_MS);
  expect(asking).toMatchObject({ progress: ["advanced"], found: LATENCY_MS });
});

test("requests at the same time share one fetch, and those that come during it the next", async () => {
  const { ask, advance, ledger, client } = await following();
  ledger.elsewhere();
  const first = Array.from({ length: 100 }, () => ask());
  await advance(3 * LATENCY_MS);
  const firstEnd = ledger.end;
  expect(client.fetches).toMatchObject([{ upTo: firstEnd }]);
  ledger.elsewhere();
  const second = Array.from({ length: 100 }, () => ask());
  await advance(1_000);
  expect(client.fetches).toMatchObject([{ upTo: firstEnd }, { upTo: ledger.end }]);
  expect([...first, ...second].map(({ progress }) => progress.at(-1))).toEqual(Array(200).fill("reached"));
  expect(Math.max(...second.map(({ ended = Infinity }) => ended))).toBeLessThanOrEqual(2 * ROUND_TRIPS_MS);
});

async function waited({ ask, advance }: Setup): Promise<Asking> {
  const asking = ask();
  await advance(READ_WAIT_MS);
  return asking;
}

/** Breaks something, and lets a request wait. */
async function waitWhile(breakIt: (setup: Setup) => void): Promise<Setup> {
  const setup = await following();
  setup.ledger.elsewhere();
  breakIt(setup);
  const { progress, ended } = await waited(setup);
  expect([progress.includes("reached"), ended]).toEqual([false, READ_WAIT_MS]);
  return setup;
}

describe("a wait that cannot end gives up within its time", () => {
  test.each<[string, (setup: Setup) => void]>([
    [
      "the stream is dead, although the end can be read",
      ({ participant }) => participant.wires.forEach((wire) => wire.die()),
    ],
    ["the participant is down", ({ participant }) => participant.stop()],
  ])("if %s", async (_, breakIt) => {
    const { client } = await waitWhile(breakIt);
    expect(client.reads).toBeGreaterThan(0);
  });

  test("if the end cannot be read, and the next one is answered", async () => {
    const setup = await waitWhile(({ participant }) => participant.callFaults.push(...Array<"busy">(40).fill("busy")));
    setup.participant.callFaults.length = 0;
    expect((await waited(setup)).progress.at(-1)).toBe("reached");
  });

  test("if the fetch delivers nothing. It is ended, and the next goes on", async () => {
    const setup = await waitWhile(({ client }) => void (client.fetch = silent));
    setup.client.fetch = (stream) => stream;
    await setup.advance(6_000);
    expect(setup.client.fetches.length).toBeGreaterThan(1);
    expect((await waited(setup)).progress.at(-1)).toBe("reached");
  });

  test("if the ledger ends before the store: that is another history", async () => {
    const { mirror } = await waitWhile(({ ledger, participant }) => {
      // A dead connection shows no cut.
      for (const wire of participant.wires) wire.die();
      participant.wires.clear();
      ledger.clear();
      participant.snapshotDelays.push(60_000);
    });
    expect(mirror.notReadyReason()).toContain("the ledger ends at offset 0");
  });
});

test("a fetch that fails once another stream is followed does not end that one", async () => {
  const { ask, advance, client, create, ledger, logged, participant, snapshots } = await following();
  const failing = gate();
  client.fetch = (stream) => silent(stream, new LedgerError("ahead", "of the test"), failing);
  ledger.elsewhere();
  ask();
  await advance(ROUND_TRIPS_MS);
  expect(client.fetches).toHaveLength(1);
  client.fetch = (stream) => stream;
  participant.cutAll();
  await advance(1_500);
  create("third");
  await advance(500);
  expect(logged().at(-1)).toContain("following the ledger again");
  const before = [...snapshots];
  failing.open();
  await advance(3_000);
  expect(logged().filter((line) => line.includes("restored from a backup"))).toEqual([]);
  expect(snapshots).toEqual(before);
});

test("a stream that delivers a backlog is not fetched a second time", async () => {
  const { advance, create, participant, client } = await following();
  // 500 updates, one every 20 ms.
  let sent = 0;
  participant.latency = () => LATENCY_MS + 20 * sent++;
  for (let count = 0; count < 500; count++) create(`backlog-${count}`);
  participant.latency = () => LATENCY_MS;
  await advance(9_000);
  // The first poll cannot know yet.
  expect(client.fetches.length).toBeLessThanOrEqual(1);
});

test("while nobody waits the end is read once a second; a request renews the age, too", async () => {
  const { advance, ask, client, lag } = await following();
  await advance(60_000);
  expect(client.reads).toBeLessThanOrEqual(61);
  await advance(400);
  const before = lag.status.age ?? 0;
  ask();
  await advance(ROUND_TRIPS_MS);
  expect(lag.status.age).toBeLessThan(before);
});

test.each([3, 50, 900])("the age stays within a poll and a half while others write every %d ms", async (everyMs) => {
  const { advance, ledger, lag, mirror } = await following();
  const ages: number[] = [];
  for (let elapsed = 0; elapsed < 10_000; elapsed += everyMs) {
    ledger.elsewhere();
    await advance(everyMs, () => {
      ages.push(lag.status.age ?? Infinity);
      expect(mirror.notReadyReason()).toBeUndefined();
    });
  }
  expect(Math.max(...ages)).toBeLessThanOrEqual(1_500);
  // It counts from the moment at which the end was asked for: the answer, the fetch and the ping come later.
  expect(Math.min(...ages)).toBeGreaterThanOrEqual(6 * LATENCY_MS);
});

test("a stream that does not answer ends readiness, although the end is read", async () => {
  const { advance, participant, mirror } = await following();
  for (const wire of participant.wires) wire.die();
  await advance(4_000);
  expect(mirror.notReadyReason()).toMatch(/^the ledger has not been reached for [45] s$/);
});

test("what the service closes itself is no warning", async () => {
  const { advance, ledger, logged, participant } = await following();
  // The end of another participant, behind the same address.
  participant.callFaults.push("lowerEnd");
  await advance(5_000);
  expect(logged()).toEqual(["warn the ledger may have another history: it is checked"]);
  expect(ledger.end).toBeGreaterThan(0);
});

test("an end that cannot be read is an incident, although the stream is open and nothing happens", async () => {
  const { advance, logged, client, mirror } = await following();
  client.endFailure = new LedgerError("denied", "GET /v2/state/ledger-end: 401");
  await advance(2_000);
  expect(logged()).toEqual([]);
  await advance(2_500);
  const denied = "the participant or the token issuer does not accept the credentials";
  expect(logged()).toEqual([`error ${denied}; contracts read before are still served`]);
  expect(mirror.notReadyReason()).toContain(`${denied} (GET /v2/state/ledger-end: 401)`);
  client.endFailure = undefined;
  await advance(3_000);
  expect(logged().at(-1)).toBe("info following the ledger again");
  expect(mirror.notReadyReason()).toBeUndefined();
});
