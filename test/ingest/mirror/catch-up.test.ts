/** How the store is brought to the ledger's end: by polls, and for requests that wait. In virtual time. */
import { describe, expect, onTestFinished, test } from "vitest";
import type { CatchUpProgress } from "../../../src/domain/ledger.js";
import { LagTracker } from "../../../src/ingest/lag.js";
import { Mirror } from "../../../src/ingest/mirror.js";
import { Decoder } from "../../../src/ledger/decode.js";
import { LedgerError } from "../../../src/ledger/participant/errors.js";
import type { Ledger, UpdateStream } from "../../../src/ledger/participant/client.js";
import { templates } from "../../../src/registry/utility/templates.js";
import { transferOffer } from "../../../src/registry/utility/templates.js";
import { MemoryStore } from "../../../src/store/memory/memory-store.js";
import { ScriptedLedger } from "../../scripted-participant/ledger.js";
import { payload } from "../../fixtures/elements.js";
import { gate } from "../../fixtures/wait.js";
import { Random } from "../database/random.js";
import { VirtualClient } from "./virtual/client.js";
import { VirtualClock } from "./virtual/clock.js";
import { VirtualParticipant } from "./virtual/participant.js";

const operator = "operator::1220";
const packageName = "utility-registry-app-v0";
const READ_WAIT_MS = 1_000;
/** One way. */
const LATENCY_MS = 2;
/** Longer than any test: nothing may depend on checkpoints. */
const CHECKPOINT_MS = 600_000;

/** Every message takes the same time. */
class SteadyParticipant extends VirtualParticipant {
  override latency(): number {
    return LATENCY_MS;
  }
}

interface Fetch {
  readonly after: number;
  readonly upTo: number;
  readonly at: number;
}

/** A mirror that has followed a ledger for three polls. */
async function following({ readWait = READ_WAIT_MS } = {}) {
  const clock = new VirtualClock();
  const restoreTimers = clock.install();
  const ledger = new ScriptedLedger();
  const participant = new SteadyParticipant(clock, new Random(1), ledger, [packageName], CHECKPOINT_MS);
  const mirrored = templates.filter((template) => template.packageName === packageName);
  const end = new AbortController();
  const { signal } = end;
  const client = new VirtualClient(participant, [operator], mirrored, signal);
  const fetches: Fetch[] = [];
  const open = { now: 0, max: 0 };
  const hooks: {
    fetch?: (stream: UpdateStream) => UpdateStream;
    reads: number;
    endFailure?: LedgerError | undefined;
  } = { reads: 0 };
  const around: Ledger = {
    ledgerEnd() {
      hooks.reads++;
      return hooks.endFailure === undefined ? client.ledgerEnd() : Promise.reject(hooks.endFailure);
    },
    activeContracts: (offset) => client.activeContracts(offset),
    async updates(after, upTo) {
      if (upTo === undefined) return client.updates(after);
      fetches.push({ after, upTo, at: clock.now });
      open.max = Math.max(open.max, ++open.now);
      const stream = await client.updates(after, upTo);
      return hooks.fetch?.(counted(stream)) ?? counted(stream);
    },
    hasUpdate: (updateId) => client.hasUpdate(updateId),
    prunedUpTo: () => client.prunedUpTo(),
    missing: [],
    leaveOut: (error) => client.leaveOut(error),
    findMissing: () => client.findMissing(),
    include: (names) => client.include(names),
  };
  const logged: string[] = [];
  const note = (level: string) => (_details: object, message: string) => void logged.push(`${level} ${message}`);
  const log = { info: note("info"), warn: note("warn"), error: note("error") };
  const now = () => clock.now;
  const lag = new LagTracker({ unreadyAfter: 3_000, staleAfter: 60_000 }, now, () => around.ledgerEnd());
  const store = new MemoryStore();
  const parts = { writer: store, lag, log, now, readWait, signal };
  const mirror = new Mirror({
    ...parts,
    ledger: around,
    decoder: new Decoder(mirrored),
    random: () => 0.5,
    pause: (ms) => clock.pause(ms, signal),
  });
  const running = mirror.run();
  onTestFinished(async () => {
    end.abort();
    await clock.advance(600_000, () => undefined);
    await running;
    restoreTimers();
  });
  const advance = (ms: number, check: () => void = () => undefined) => clock.advance(ms, check);
  const create = (contractId: string) => ledger.transact([{ create: offer(contractId) }]);
  create("first");
  await advance(3_000);
  // With the id of an update the mirror can resume.
  create("second");
  await advance(1_500);
  expect(mirror.notReadyReason()).toBeUndefined();
  fetches.length = 0;
  hooks.reads = 0;
  return { clock, ledger, participant, mirror, lag, logged, fetches, open, hooks, advance, create, ask, isStored };

  function counted(stream: UpdateStream): UpdateStream {
    let isOpen = true;
    return {
      get hasEnded() {
        return stream.hasEnded;
      },
      isResponsive: () => stream.isResponsive(),
      close() {
        if (isOpen) open.now--;
        isOpen = false;
        stream.close();
      },
      [Symbol.asyncIterator]: () => stream[Symbol.asyncIterator](),
    };
  }

  function isStored(contractId: string): boolean {
    return store.read((view) => view.byId(transferOffer, contractId) !== undefined);
  }

  /** A request for a contract that is missing waits. */
  function ask(contractId = "nowhere"): Asking {
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
  }
}

/** Times are in milliseconds since the request. */
interface Asking {
  readonly progress: CatchUpProgress[];
  found: number | undefined;
  ended: number | undefined;
}

const offer = (contractId: string) => ({
  contractId,
  packageName,
  templateId: "pkg:Utility.Registry.App.V0.Model.Transfer:TransferOffer",
  payload: payload.offer("alice", "bob", "USD", "locked"),
  createdEventBlob: Buffer.from(contractId).toString("base64"),
  signatories: [operator],
});

/** A read of the end, the opening of a fetch, a ping and the fetch, of two ways each. */
const ROUND_TRIPS_MS = 8 * LATENCY_MS;

describe("a request for an unknown contract", () => {
  test("ends at once on a ledger on which nothing happens, without a fetch", async () => {
    const { ask, advance, fetches } = await following();
    const asking = ask();
    await advance(READ_WAIT_MS);
    expect(asking.progress).toEqual(["reached"]);
    expect(asking.ended).toBeLessThanOrEqual(ROUND_TRIPS_MS);
    expect(fetches).toEqual([]);
  });

  test("ends after one fetch up to the ledger's end while others write", async () => {
    const { ask, advance, ledger, fetches } = await following();
    const before = ledger.end;
    for (let count = 0; count < 5; count++) ledger.elsewhere();
    const asking = ask();
    await advance(ROUND_TRIPS_MS);
    expect(asking.progress.at(-1)).toBe("reached");
    expect(fetches).toMatchObject([{ after: before, upTo: ledger.end }]);
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
});

describe("a request for a contract that the stream does not deliver", () => {
  test("finds it by the fetch", async () => {
    const { ask, advance, create, participant } = await following();
    for (const wire of participant.wires) wire.isSilent = true;
    create("new");
    const asking = ask("new");
    await advance(READ_WAIT_MS);
    expect(asking.found).toBeLessThanOrEqual(ROUND_TRIPS_MS);
  });

  test("finds it as soon as it is applied, before the end is reached", async () => {
    const { ask, advance, create, hooks } = await following();
    hooks.fetch = silent;
    create("new");
    const asking = ask("new");
    await advance(READ_WAIT_MS);
    expect(asking).toMatchObject({ progress: ["advanced"], found: LATENCY_MS });
  });
});

describe("requests at the same time", () => {
  test("share one fetch, and those that come during it the next", async () => {
    const { ask, advance, ledger, fetches, open, hooks } = await following();
    ledger.elsewhere();
    const first = Array.from({ length: 100 }, () => ask());
    await advance(3 * LATENCY_MS);
    const firstEnd = ledger.end;
    expect(fetches).toMatchObject([{ upTo: firstEnd }]);
    ledger.elsewhere();
    const second = Array.from({ length: 100 }, () => ask());
    await advance(1_000);
    expect(fetches).toMatchObject([{ upTo: firstEnd }, { upTo: ledger.end }]);
    expect([...first, ...second].map(({ progress }) => progress.at(-1))).toEqual(Array(200).fill("reached"));
    expect(Math.max(...second.map(({ ended = Infinity }) => ended))).toBeLessThanOrEqual(2 * ROUND_TRIPS_MS);
    expect(open.max).toBe(1);
    // Those of the waits, and of the poll.
    expect(hooks.reads).toBeLessThanOrEqual(4);
  });

  test("do not share an end that was read before they came", async () => {
    const { ask, advance, create, participant } = await following();
    for (const wire of participant.wires) wire.isSilent = true;
    const first = ask();
    // The read of the first is under way.
    await advance(LATENCY_MS);
    create("new");
    const second = ask("new");
    await advance(READ_WAIT_MS);
    expect(first.progress).toEqual(["reached"]);
    expect(second.found).toBeDefined();
  });

  test("cost nothing while nobody waits: one read of the end a second", async () => {
    const { advance, hooks } = await following();
    await advance(60_000);
    expect(hooks.reads).toBeLessThanOrEqual(61);
  });
});

type Setup = Awaited<ReturnType<typeof following>>;

/** Breaks something, and lets a request wait. */
async function waitWhile(breakIt: (setup: Setup) => void): Promise<Setup & { readonly asking: Asking }> {
  const setup = await following();
  setup.ledger.elsewhere();
  breakIt(setup);
  const asking = setup.ask();
  await setup.advance(2 * READ_WAIT_MS);
  return { ...setup, asking };
}

const hasGivenUp = ({ progress, ended }: Asking): boolean => !progress.includes("reached") && ended === READ_WAIT_MS;

describe("a wait that cannot end gives up within its time", () => {
  test("if the end cannot be read", async () => {
    const {
      participant,
      ask,
      advance,
      asking: first,
    } = await waitWhile(({ participant: { callFaults } }) => {
      for (let count = 0; count < 40; count++) callFaults.push("busy");
    });
    expect(hasGivenUp(first)).toBe(true);
    participant.callFaults.length = 0;
    const asking = ask();
    await advance(READ_WAIT_MS);
    expect(asking.progress.at(-1)).toBe("reached");
  });

  test.each<[string, (setup: Setup) => void]>([
    ["if the fetch delivers nothing", ({ hooks }) => void (hooks.fetch = silent)],
    [
      "if the stream is dead, although the end can be read",
      ({ participant }) => participant.wires.forEach((wire) => wire.die()),
    ],
    ["if the participant is down", ({ participant }) => participant.stop()],
  ])("%s", async (_, breakIt) => {
    expect(hasGivenUp((await waitWhile(breakIt)).asking)).toBe(true);
  });

  test("if the ledger ends before the store: that is another history", async () => {
    const { mirror, asking } = await waitWhile(({ ledger, participant }) => {
      // A dead connection shows no cut.
      for (const wire of participant.wires) wire.die();
      participant.wires.clear();
      ledger.clear();
      participant.snapshotDelays.push(60_000);
    });
    expect(hasGivenUp(asking)).toBe(true);
    expect(mirror.notReadyReason()).toContain("the ledger ends at offset 0");
  });
});

test("a service that does not wait answers at once, even if the ledger is ahead", async () => {
  const { ask, advance, participant, hooks } = await following({ readWait: 0 });
  participant.stop();
  const asking = ask();
  await advance(0);
  expect(asking).toMatchObject({ progress: ["reached"], ended: 0 });
  expect(hooks.reads).toBe(0);
});

test("a failed read of the end is repeated for a request that waits", async () => {
  const { ask, advance, participant } = await following();
  participant.callFaults.push("busy", "busy", "busy");
  const asking = ask();
  await advance(READ_WAIT_MS);
  expect(asking.progress).toEqual(["reached"]);
  expect(asking.ended).toBeLessThan(500);
});

test("a silent fetch is ended, and the next one goes on", async () => {
  const { ask, advance, ledger, hooks, fetches, open } = await following();
  ledger.elsewhere();
  hooks.fetch = silent;
  ask();
  await advance(READ_WAIT_MS);
  delete hooks.fetch;
  await advance(6_000);
  expect(open).toEqual({ now: 0, max: 1 });
  expect(fetches.length).toBeGreaterThan(1);
  const asking = ask();
  await advance(READ_WAIT_MS);
  expect(asking.progress.at(-1)).toBe("reached");
});

test("a stream that delivers a backlog is not fetched a second time", async () => {
  const { advance, create, participant, fetches } = await following();
  // 500 updates, one every 20 ms.
  const late = participant.latency.bind(participant);
  let sent = 0;
  participant.latency = () => late() + 20 * sent++;
  for (let count = 0; count < 500; count++) create(`backlog-${count}`);
  participant.latency = late;
  await advance(9_000);
  // The first poll cannot know yet.
  expect(fetches.length).toBeLessThanOrEqual(1);
});

describe("the age", () => {
  test("stays within a poll and a half at any traffic of others, so readiness within 3 s never fails", async () => {
    for (const everyMs of [3, 50, 900]) {
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
    }
  });

  test("grows while the stream does not answer, although the end is read", async () => {
    const { advance, lag, participant, mirror } = await following();
    for (const wire of participant.wires) wire.die();
    await advance(4_000);
    expect(lag.status.age).toBeGreaterThan(3_000);
    expect(mirror.notReadyReason()).toMatch(/^the ledger has not been reached for [45] s$/);
  });

  test("grows while every fetch fails, although the stream answers", async () => {
    const { advance, ledger, lag, hooks } = await following();
    hooks.fetch = silent;
    ledger.elsewhere();
    await advance(5_000);
    expect(lag.status.age).toBeGreaterThan(4_000);
  });

  test("is renewed by requests, too", async () => {
    const { advance, ask, lag } = await following();
    await advance(400);
    const before = lag.status.age ?? 0;
    ask();
    await advance(ROUND_TRIPS_MS);
    expect(lag.status.age).toBeLessThan(before);
  });
});

/** A stream that is open and delivers nothing. */
function silent(stream: UpdateStream): UpdateStream {
  const closed = gate();
  return {
    hasEnded: false,
    isResponsive: () => stream.isResponsive(),
    close() {
      stream.close();
      closed.open();
    },
    [Symbol.asyncIterator]: () => ({
      async next() {
        await closed.opened;
        throw new LedgerError("lost", "the stream was closed");
      },
    }),
  };
}

test("what the service closes itself is no warning", async () => {
  const { advance, ledger, logged, participant } = await following();
  logged.length = 0;
  // The end of another participant, behind the same address.
  participant.callFaults.push("lowerEnd");
  await advance(5_000);
  expect(logged).toEqual(["warn the ledger may have another history: it is checked"]);
  expect(ledger.end).toBeGreaterThan(0);
});

test("an end that cannot be read is an incident, although the stream is open and nothing happens", async () => {
  const { advance, logged, hooks, mirror } = await following();
  logged.length = 0;
  hooks.endFailure = new LedgerError("denied", "GET /v2/state/ledger-end: 401");
  await advance(2_000);
  expect(logged).toEqual([]);
  await advance(2_500);
  const denied = "the participant or the token issuer does not accept the credentials";
  expect(logged).toEqual([`error ${denied}; contracts read before are still served`]);
  expect(mirror.notReadyReason()).toContain(`${denied} (GET /v2/state/ledger-end: 401)`);
  hooks.endFailure = undefined;
  await advance(3_000);
  expect(logged.at(-1)).toBe("info following the ledger again");
  expect(mirror.notReadyReason()).toBeUndefined();
});
