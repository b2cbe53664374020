import { describe, expect, test } from "vitest";
import { LagTracker } from "../../../src/ingest/lag.js";

const UNREADY = 10_000;
const STALE = 60_000;

/** `readEnd` lets the tracker read an end, and `confirm` confirms one that was requested at a time, now by default. */
function createTracker() {
  const clock = { now: 1_000_000 };
  const ends: number[] = [];
  const lag = new LagTracker({ unreadyAfter: UNREADY, staleAfter: STALE }, () => clock.now, nextEnd);
  const readEnd = (offset: number) => {
    ends.push(offset);
    return lag.readEnd();
  };
  const confirm = (offset: number, requestedAt = clock.now) => lag.confirm({ offset, requestedAt, read: 0 });
  return { clock, lag, readEnd, confirm };

  async function nextEnd(): Promise<number> {
    const end = ends.shift();
    if (end === undefined) throw new Error("the ledger does not answer");
    return end;
  }
}

/** A store that has reached the ledger's end at an offset, at the clock's time. */
function current(offset = 10) {
  const made = createTracker();
  made.lag.reached(offset);
  made.confirm(offset);
  return made;
}

describe("the status of the mirror", () => {
  test("is unknown at the beginning", () => {
    const { lag } = createTracker();
    expect(lag.status).toEqual({ offset: undefined, age: undefined });
  });

  test("is current as of the request for the end that it has reached", () => {
    const { clock, lag, confirm } = createTracker();
    confirm(10);
    clock.now += 700;
    lag.reached(9);
    expect(lag.status).toMatchObject({ offset: 9, age: undefined });
    clock.now += 300;
    lag.reached(10);
    expect(lag.status).toMatchObject({ offset: 10, age: 1_000 });
  });

  test("is current in either order of the end and the store", () => {
    const { clock, lag, confirm } = createTracker();
    const asked = clock.now;
    clock.now += 250;
    lag.reached(10);
    confirm(10, asked);
    expect(lag.status.age).toBe(250);
  });

  test("ages while the ledger moves away, and is current again when it is reached", () => {
    const { clock, lag, confirm } = current();
    clock.now += 5_000;
    confirm(20);
    expect(lag.status).toMatchObject({ offset: 10, age: 5_000 });
    lag.reached(19);
    expect(lag.status.age).toBe(5_000);
    lag.reached(25);
    expect(lag.status).toMatchObject({ offset: 25, age: 0 });
  });

  test("stays current while a ledger on which nothing happens is asked", () => {
    const { clock, lag, confirm } = current();
    for (let second = 0; second < 100; second++) {
      clock.now += 1_000;
      confirm(10);
      expect(lag.status.age).toBe(0);
    }
  });

  test("is not renewed by updates alone: the ledger's end may be far ahead", () => {
    const { clock, lag } = current();
    clock.now += 5_000;
    lag.reached(11);
    expect(lag.status.age).toBe(5_000);
  });

  test("is not aged by the answer to an earlier request", () => {
    const { clock, lag, confirm } = current();
    clock.now += 100;
    confirm(10);
    confirm(9, clock.now - 50);
    expect(lag.status.age).toBe(0);
  });

  test("has a lower offset after the snapshot of a restored ledger", () => {
    const { clock, lag, confirm } = current(100);
    clock.now += 1_000;
    lag.reached(40);
    confirm(40);
    expect(lag.status).toMatchObject({ offset: 40, age: 0 });
  });
});

describe("while others write to the ledger", () => {
  test("each end that is reached renews the age, though later ones are not", () => {
    const { clock, lag, confirm } = current(10);
    // The ledger moves by 60 offsets a second, and the store follows a poll later.
    for (let second = 1; second <= 20; second++) {
      clock.now += 1_000;
      confirm(10 + 60 * second);
      lag.reached(10 + 60 * (second - 1));
      expect(lag.status.age).toBe(1_000);
    }
  });

  test("an end counts from the moment at which it was asked for", () => {
    const { clock, lag, confirm } = current(10);
    confirm(20, clock.now + 1_000);
    confirm(30, clock.now + 2_000);
    confirm(40, clock.now + 3_000);
    clock.now += 10_000;
    lag.reached(29);
    expect(lag.status.age).toBe(9_000);
    lag.reached(40);
    expect(lag.status.age).toBe(7_000);
  });

  test("the list of ends is bounded: the oldest and the newest are kept", () => {
    const { clock, lag, confirm } = current(10);
    const begun = clock.now;
    for (let poll = 1; poll <= 1_000; poll++) confirm(10 + poll, begun + poll);
    lag.reached(11);
    expect(lag.status.age).toBe(-1);
    lag.reached(1_009);
    expect(clock.now - begun - (lag.status.age ?? 0)).toBeLessThan(100);
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

  test("no end counts after the stream is lost, or the history", () => {
    for (const lose of [(lag: LagTracker) => lag.streamLost(), (lag: LagTracker) => lag.historyLost("other")]) {
      const { clock, lag, confirm } = current(10);
      clock.now += 1_000;
      confirm(12);
      confirm(13);
      lose(lag);
      clock.now += 4_000;
      lag.reached(13);
      expect(lag.status).toMatchObject({ offset: 13, age: 5_000 });
    }
  });
});

describe("the ledger's end alone", () => {
  test("makes nothing current", async () => {
    const { clock, lag, readEnd } = current();
    clock.now += 5_000;
    expect(await readEnd(10)).toEqual({ offset: 10, requestedAt: clock.now, read: 1 });
    expect(lag.status).toEqual({ offset: 10, age: 5_000 });
    lag.reached(10);
    expect(lag.status.age).toBe(5_000);
    await expect(lag.readEnd()).rejects.toThrow("the ledger does not answer");
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
    expect(lag.hasReachedEndAfter(reads)).toBe(true);
    expect(lag.hasReachedEndAfter(lag.reads)).toBe(false);
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

  test("and every move of the store, is told", async () => {
    const { lag, readEnd } = current();
    const end = await readEnd(11);
    for (const move of [() => lag.reached(11), () => lag.confirm(end), () => lag.reached(12)]) {
      const { moved } = lag;
      move();
      await expect(moved).resolves.toBeUndefined();
    }
  });
});

describe("another history", () => {
  test("ends readiness at once, and answers go on within the second limit", () => {
    const { clock, lag } = current();
    lag.historyLost("the ledger ends at offset 4");
    expect(lag.notReadyReason()).toBe("the ledger ends at offset 4");
    expect(lag.staleReason()).toBeUndefined();
    clock.now += STALE + 1;
    expect(lag.staleReason()).toContain("60 s");
    expect(lag.notReadyReason()).toBe(lag.staleReason());
  });

  test("is over when the store has reached the present one, at a lower offset too", () => {
    const { lag } = current();
    lag.historyLost("the ledger ends at offset 4");
    lag.reached(4);
    expect(lag.notReadyReason()).toBeUndefined();
  });

  test("is over when the check of the last update has found it on the ledger", () => {
    const { lag } = current();
    lag.historyLost("the ledger ends at offset 4");
    lag.reached(10);
    expect(lag.notReadyReason()).toBeUndefined();
  });
});

describe("the limits of staleness", () => {
  test("refuse before the first snapshot, and before the ledger's end was known", () => {
    const { lag, confirm } = createTracker();
    const none = "no snapshot of the ledger has been taken yet";
    expect([lag.staleReason(), lag.notReadyReason()]).toEqual([none, none]);
    confirm(10);
    expect([lag.staleReason(), lag.notReadyReason()]).toEqual([none, none]);
    lag.reached(10);
    expect([lag.staleReason(), lag.notReadyReason()]).toEqual([undefined, undefined]);
  });

  test("end readiness past the first, and answers past the second", () => {
    const { clock, lag } = current();
    const begun = clock.now;
    const at = (age: number) => {
      clock.now = begun + age;
      return [lag.notReadyReason() === undefined, lag.staleReason() === undefined];
    };
    expect(at(UNREADY)).toEqual([true, true]);
    expect(at(UNREADY + 1)).toEqual([false, true]);
    expect(at(STALE)).toEqual([false, true]);
    expect(at(STALE + 1)).toEqual([false, false]);
  });

  test("say for how long", () => {
    const { clock, lag } = current();
    clock.now += 30_000;
    expect(lag.notReadyReason()).toBe("the ledger has not been reached for 30 s");
    clock.now += 60_000;
    expect(lag.staleReason()).toContain("90 s");
    expect(lag.notReadyReason()).toBe(lag.staleReason());
  });

  test("no longer apply when the ledger is reached again", () => {
    const { clock, lag, confirm } = current();
    clock.now += STALE * 2;
    expect(lag.staleReason()).toBeDefined();
    confirm(10);
    expect([lag.staleReason(), lag.notReadyReason()]).toEqual([undefined, undefined]);
  });
});
