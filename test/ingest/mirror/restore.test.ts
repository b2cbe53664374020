/** A participant is restored from a backup during a snapshot or a reconnect. */
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { StalenessLimits } from "../../../src/ingest/lag.js";
import type { Ledger, UpdateStream } from "../../../src/ledger/participant/client.js";
import { payload } from "../../fixtures/elements.js";
import { gate, until } from "../../fixtures/wait.js";
import { ScriptedLedger } from "../../scripted-participant/ledger.js";
import { Participant } from "../../scripted-participant/participant.js";
import { type RunningMirror, startMirror, operator } from "./run-mirror.js";

const TAKEN = "snapshot of the ledger loaded";

let ledger: ScriptedLedger;
let participant: Participant;
beforeEach(async () => {
  ledger = new ScriptedLedger();
  for (const id of ["a", "b", "c"]) create(id);
  participant = await Participant.start({ ledger, checkpointMs: 20 });
  onTestFinished(() => participant.stop());
});

function create(contractId: string): void {
  const offer = {
    contractId,
    packageName: "utility-registry-app-v0",
    templateId: "pkg:Utility.Registry.App.V0.Model.Transfer:TransferOffer",
    payload: payload.offer("alice", "bob", "USD", "locked"),
    createdEventBlob: Buffer.from(contractId).toString("base64"),
    signatories: [operator],
  };
  ledger.transact([{ create: offer }]);
}

/** Restores the participant, and lets its new history grow past the old one. Idempotent. */
function restoring(): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    const past = ledger.end + 2;
    ledger.restore(1);
    while (ledger.end < past) create(`new-${ledger.end}`);
  };
}

/** Limits that no test reaches. */
const NEVER_STALE: StalenessLimits = { unreadyAfter: 3_600_000, staleAfter: 7_200_000 };

function mirrored(more: (of: Ledger) => Partial<Ledger>, staleness?: StalenessLimits): RunningMirror {
  const around = (of: Ledger): Ledger => ({
    ledgerEnd: () => of.ledgerEnd(),
    activeContracts: (offset) => of.activeContracts(offset),
    updates: (after, upTo) => of.updates(after, upTo),
    hasUpdate: (updateId) => of.hasUpdate(updateId),
    prunedUpTo: () => of.prunedUpTo(),
    missing: [],
    leaveOut: (error) => of.leaveOut(error),
    findMissing: () => of.findMissing(),
    include: (names) => of.include(names),
    ...more(of),
  });
  const mirror = startMirror(participant.url, [operator], around, staleness);
  onTestFinished(() => mirror.stop());
  return mirror;
}

const taken = ({ logged }: RunningMirror): readonly string[] => logged.filter((line) => line.includes(TAKEN));

/** Creates a contract, and waits until the store equals the ledger. */
async function equals(mirror: RunningMirror): Promise<void> {
  await until("the snapshot is there", () => taken(mirror).length > 0);
  create("last");
  const held = async () => [...(await mirror.held()).keys()].toSorted();
  await until("the update is there", async () => (await held()).includes("last"));
  expect(await held()).toEqual([...ledger.contracts.keys()].toSorted());
}

/** Waits until the checkpoint has an update id, and cuts the stream. */
async function cut(mirror: RunningMirror): Promise<void> {
  await until("the snapshot is there", () => taken(mirror).length > 0);
  create("d");
  await until("the update is there", async () => (await mirror.held()).has("d"));
  participant.faults.cut({ streams: "open", path: "/v2/updates" });
}

describe("a participant that is restored while a snapshot is taken", () => {
  test("after the ledger's end is read is mirrored correctly", async () => {
    const restore = restoring();
    const mirror = mirrored((of) => ({
      updates(after, upTo) {
        restore();
        return of.updates(after, upTo);
      },
    }));
    await equals(mirror);
    expect(taken(mirror)).toHaveLength(1);
  });

  test("before its contracts are read is mirrored correctly, without the old contracts", async () => {
    const restore = restoring();
    const mirror = mirrored((of) => ({
      activeContracts(offset) {
        restore();
        return of.activeContracts(offset);
      },
    }));
    await equals(mirror);
    expect(taken(mirror)).toHaveLength(1);
    expect(taken(mirror)[0]).toContain('"offset":12');
  });

  test("after its contracts are read is mirrored correctly, without them", async () => {
    const restore = restoring();
    const mirror = mirrored((of) => ({
      async *activeContracts(offset) {
        yield* of.activeContracts(offset);
        restore();
      },
    }));
    await equals(mirror);
    expect(taken(mirror)).toHaveLength(1);
    expect(taken(mirror)[0]).toContain('"offset":12');
  });
});

describe("a participant that is restored while the mirror reconnects", () => {
  test("before the stream is opened is mirrored correctly", async () => {
    const restore = restoring();
    let opened = 0;
    const mirror = mirrored((of) => ({
      updates(after, upTo) {
        if (upTo === undefined && ++opened === 2) restore();
        return of.updates(after, upTo);
      },
    }));
    await cut(mirror);
    await until("another snapshot is there", () => taken(mirror).length > 1);
    await equals(mirror);
    expect(taken(mirror)).toHaveLength(2);
  });

  test("after the check of its history is mirrored correctly", async () => {
    const restore = restoring();
    const mirror = mirrored((of) => ({
      async hasUpdate(updateId) {
        const has = await of.hasUpdate(updateId);
        restore();
        return has;
      },
    }));
    await cut(mirror);
    await until("another snapshot is there", () => taken(mirror).length > 1);
    await equals(mirror);
    expect(taken(mirror)).toHaveLength(2);
  });
});

test("an end before what is applied makes it not ready at once, although the stream is open", async () => {
  let isBehind = false;
  const mirror = mirrored((of) => ({ ledgerEnd: async () => (isBehind ? 1 : of.ledgerEnd()) }), NEVER_STALE);
  await until("it is ready", () => mirror.lag.notReadyReason() === undefined);
  isBehind = true;
  let reason: string | undefined;
  await until("it is not ready", () => (reason = mirror.lag.notReadyReason()) !== undefined);
  expect(reason).toContain("the ledger ends at offset 1, but offset");
  isBehind = false;
  await equals(mirror);
  await until("it is ready again", () => mirror.lag.notReadyReason() === undefined);
});

test("an update during the snapshot is applied after it", async () => {
  const mirror = mirrored((of) => ({
    async *activeContracts(offset) {
      ledger.transact([{ archive: "a" }]);
      create("meanwhile");
      yield* of.activeContracts(offset);
    },
  }));
  await equals(mirror);
  expect((await mirror.held()).has("a")).toBe(false);
  expect(taken(mirror)).toHaveLength(1);
});

test("fetched updates are not applied if the stream is not responsive", async () => {
  const asked = gate();
  const closed = gate();
  const mirror = mirrored((of) => ({
    async updates(after, upTo) {
      const stream = await of.updates(after, upTo);
      const more = upTo === undefined ? { isResponsive } : { close: () => (stream.close(), closed.open()) };
      return { ...delegated(stream), ...more };

      /** Responsive during the snapshot, and not afterwards. */
      async function isResponsive(): Promise<boolean> {
        if (taken(mirror).length === 0) return stream.isResponsive();
        asked.open();
        return false;
      }
    },
  }));
  await until("the snapshot is there", () => taken(mirror).length > 0);
  participant.faults.silence({ streams: "open", path: "/v2/updates" });
  create("d");
  await asked.opened;
  await closed.opened;
  expect([...(await mirror.held()).keys()].toSorted()).toEqual(["a", "b", "c"]);
});

const delegated = (stream: UpdateStream): UpdateStream => ({
  get hasEnded() {
    return stream.hasEnded;
  },
  isResponsive: () => stream.isResponsive(),
  close: () => stream.close(),
  [Symbol.asyncIterator]: () => stream[Symbol.asyncIterator](),
});
