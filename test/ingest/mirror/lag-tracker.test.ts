import { describe, expect, test } from "vitest";
import { LagTracker } from "../../../src/ingest/lag.js";

const UNREADY = 10_000;
const STALE = 60_000;

/** `readEnd` lets the tracker read an end, and `confirm` confirms one that was requested at a time, now by default. */
function createTracker() {
  const clock = { now: 1_000_000 };
  const ends: number[] = [];
  const nextEnd = async (): Promise<number> => {
    const end = ends.shift();
    if (end === undefined) throw new Error("the ledger does not answer");
    return end;
  };
  const lag = new LagTracker({ unreadyAfter: UNREADY, staleAfter: STALE }, () => clock.now, nextEnd);
  const readEnd = (offset: number) => {
    ends.push(offset);
    return lag.readEnd();
  };
  const confirm = (offset: number, requestedAt = clock.now) => lag.confirm({ offset, requestedAt, read: 0 });
  return { clock, lag, readEnd, confirm };
}

/** A store that has reached the ledger's end at an offset, at the clock's time. */
function current(offset = 10) {
  const made = createTracker();
  made.lag.reached(offset);
  made.confirm(offset);
  return made;
}

describe("the status of the mirror", () => {
  test("is unknown until the store has reached an end, and then as old as the request for it", () => {
    const { clock, lag, confirm } = createTracker();
    expect(lag.status).toEqual({ offset: undefined, age: undefined });
    confirm(10);
    clock.now += 700;
    lag.reached(9);
    expect(lag.status).toEqual({ offset: 9, age: undefined });
    clock.now += 300;
    lag.reached(10);
    expect(lag.status).toEqual({ offset: 10, age: 1_000 });
    // In either order.
    confirm(10, clock.now - 250);
    expect(lag.status.age).toBe(250);
  });

  test("is renewed neither by updates nor by a read alone, nor aged by the answer to an earlier request", async () => {
    const { clock, lag, readEnd, confirm } = current();
    clock.now += 5_000;
    expect(await readEnd(11)).toEqual({ offset: 11, requestedAt: clock.now, read: 1 });
    lag.reached(11);
    expect(lag.status.age).toBe(5_000);
    confirm(11);
    confirm(9, clock.now - 50);
    expect(lag.status.age).toBe(0);
    await expect(lag.readEnd()).rejects.toThrow("the ledger does not answer");
  });
});

describe("while others write to the ledger", () => {
  test("the list of ends is bounded: the oldest and the newest are kept", () => {
    const { clock, lag, confirm } = current(10);
    const begun = clock.now;
    for (let poll = 1; poll <= 1_000; poll++) confirm(10 + poll, begun + poll);
    lag.reached(11);
    expect(lag.status.age).toBe(-1);
    lag.reached(1_009);
    expect(-(lag.status.age ?? 0)).toBeLessThan(100);
    lag.reached(1_010);
    expect(lag.status.age).toBe(-1_000);
  });

  test("an end of a stream that may be refused does not renew the age", () => {
    const { clock, lag } = current(10);
    clock.now += 1_000;
    lag.confirm({ offset: 20, requestedAt: clock.now, read: 1 }, false);
    lag.reached(20);
    expect(lag.status.age).toBe(1_000);
    lag.confirm({ offset: 20, requestedAt: clock.now, read: 1 });
    expect(lag.status.age).toBe(0);
  });

  test.each<[string, (lag: LagTracker) => void]>([
    ["stream", (lag) => lag.streamLost()],
    ["history", (lag) => lag.historyLost("other")],
  ])("no end counts after the %s is lost", (_what, lose) => {
    const { clock, lag, confirm } = current(10);
    clock.now += 1_000;
    confirm(12);
    lose(lag);
    clock.now += 4_000;
    lag.reached(12);
    expect(lag.status).toEqual({ offset: 12, age: 5_000 });
  });
});

describe("an end that was read after others", () => {
  test("is reached when the store has it and the stream has confirmed it", async () => {
    const { lag, readEnd } = current();
    const { reads } = lag;
    const end = await readEnd(12);
    lag.reached(12);
    expect(lag.hasReachedEndAfter(reads)).toBe(false);
    lag.confirm(end);
    expect([lag.hasReachedEndAfter(reads), lag.hasReachedEndAfter(lag.reads)]).toEqual([true, false]);
  });

  test("is not reached by one that was asked for before, though it is answered later", async () => {
    const { lag, readEnd } = current();
    const early = readEnd(10);
    const { reads } = lag;
    lag.confirm(await early);
    expect(lag.hasReachedEndAfter(reads)).toBe(false);
    lag.confirm(await readEnd(10));
    expect(lag.hasReachedEndAfter(reads)).toBe(true);
  });
});

test.each([
  ["a restored ledger is reached", 4],
  ["the check of the last update has found it", 10],
])("another history ends readiness at once, until %s; answers go on within the second limit", (_how, offset) => {
  const { clock, lag } = current();
  lag.historyLost("the ledger ends at offset 4");
  expect([lag.notReadyReason(), lag.staleReason()]).toEqual(["the ledger ends at offset 4", undefined]);
  clock.now += STALE + 1;
  expect(lag.staleReason()).toContain("60 s");
  expect(lag.notReadyReason()).toBe(lag.staleReason());
  clock.now -= STALE + 1;
  lag.reached(offset);
  expect(lag.notReadyReason()).toBeUndefined();
});

describe("the limits of staleness", () => {
  test("refuse before the first snapshot, and before the ledger's end was known", () => {
    const { lag, confirm } = createTracker();
    const none = "no snapshot of the ledger has been taken yet";
    const reasons = () => [lag.staleReason(), lag.notReadyReason()];
    expect(reasons()).toEqual([none, none]);
    confirm(10);
    expect(reasons()).toEqual([none, none]);
    lag.reached(9);
    const unknown = "the ledger has not been reached yet: the age of the contracts is unknown";
    expect(reasons()).toEqual([unknown, unknown]);
    lag.reached(10);
    expect(reasons()).toEqual([undefined, undefined]);
  });

  test("do not deny the snapshot of a store that is resumed", () => {
    const resumed = new LagTracker(
      { unreadyAfter: UNREADY, staleAfter: STALE },
      () => 0,
      () => Promise.resolve(0),
      7,
    );
    expect(resumed.status).toEqual({ offset: 7, age: undefined });
    expect(resumed.notReadyReason()).toBe("the ledger has not been reached yet: the age of the contracts is unknown");
  });

  test("end readiness past the first, and answers past the second, until the ledger is reached again", () => {
    const { clock, lag, confirm } = current();
    const begun = clock.now;
    const at = (age: number) => {
      clock.now = begun + age;
      return [lag.notReadyReason(), lag.staleReason()];
    };
    const stale = "the ledger has not been reached for 60 s; answers from before would be stale";
    expect(at(UNREADY)).toEqual([undefined, undefined]);
    expect(at(UNREADY + 1)).toEqual(["the ledger has not been reached for 10 s", undefined]);
    expect(at(STALE)).toEqual(["the ledger has not been reached for 60 s", undefined]);
    expect(at(STALE + 1)).toEqual([stale, stale]);
    confirm(10);
    expect(at(STALE + 1)).toEqual([undefined, undefined]);
  });
});
