import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { LagTracker } from "../../../src/ingest/mirror/lag-tracker.js";
import { until, within } from "../../fixtures/wait.js";
import { SOON_MS } from "../../ledger/participant/servers.js";

const UNREADY = 10_000;
const STALE = 60_000;

function createTracker(readWait = SOON_MS * 2) {
  const clock = { now: 1_000_000 };
  const limits = { unreadyAfter: UNREADY, staleAfter: STALE, readWait };
  const lag: LagTracker = new LagTracker(
    limits,
    () => clock.now,
    () => ledgerEnds.get(lag)?.() ?? Promise.reject(new Error("no ledger end")),
  );
  return { clock, lag };
}

/** How each tracker reads the ledger's end. */
const ledgerEnds = new WeakMap<LagTracker, () => Promise<number>>();

function catchUp(lag: LagTracker, offset: number, ledgerEnd: () => Promise<number>): Promise<boolean> {
  ledgerEnds.set(lag, ledgerEnd);
  return lag.catchUp(offset);
}

/** A store that has reached the ledger's end at an offset, at the clock's time. */
function current(offset = 10, readWait?: number) {
  const made = createTracker(readWait);
  made.lag.reached(offset);
  made.lag.confirm(offset, made.clock.now);
  return made;
}

describe("the status of the mirror", () => {
  test("is unknown at the beginning", () => {
    const { lag } = createTracker();
    expect(lag.status).toEqual({ offset: undefined, ledgerEnd: undefined, age: undefined });
  });

  test("is current as of the request for the end that it has reached", () => {
    const { clock, lag } = createTracker();
    lag.confirm(10, clock.now);
    clock.now += 700;
    lag.reached(9);
    expect(lag.status).toEqual({ offset: 9, ledgerEnd: 10, age: undefined });
    clock.now += 300;
    lag.reached(10);
    expect(lag.status).toEqual({ offset: 10, ledgerEnd: 10, age: 1_000 });
  });

  test("is current in either order of the end and the store", () => {
    const { clock, lag } = createTracker();
    const asked = clock.now;
    clock.now += 250;
    lag.reached(10);
    lag.confirm(10, asked);
    expect(lag.status.age).toBe(250);
  });

  test("ages while the ledger moves away, and is current again when it is reached", () => {
    const { clock, lag } = current();
    clock.now += 5_000;
    lag.confirm(20, clock.now);
    expect(lag.status).toEqual({ offset: 10, ledgerEnd: 20, age: 5_000 });
    lag.reached(19);
    expect(lag.status.age).toBe(5_000);
    lag.reached(25);
    expect(lag.status).toEqual({ offset: 25, ledgerEnd: 20, age: 0 });
  });

  test("stays current while a ledger on which nothing happens is asked", () => {
    const { clock, lag } = current();
    for (let second = 0; second < 100; second++) {
      clock.now += 1_000;
      lag.confirm(10, clock.now);
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
    const { clock, lag } = current();
    clock.now += 100;
    lag.confirm(10, clock.now);
    lag.confirm(9, clock.now - 50);
    expect(lag.status.age).toBe(0);
  });

  test("has a lower offset after the snapshot of a restored ledger", () => {
    const { clock, lag } = current(100);
    clock.now += 1_000;
    lag.reached(40);
    lag.confirm(40, clock.now);
    expect(lag.status).toEqual({ offset: 40, ledgerEnd: 40, age: 0 });
  });
});

describe("the ledger's end alone", () => {
  test("is known and makes nothing current", () => {
    const { clock, lag } = current();
    clock.now += 5_000;
    lag.ledgerEndAt(10);
    expect(lag.status).toEqual({ offset: 10, ledgerEnd: 10, age: 5_000 });
    lag.reached(10);
    expect(lag.status.age).toBe(5_000);
  });

  test("does not make it current after the stream is lost, even if it was confirmed before", () => {
    const { clock, lag } = current();
    clock.now += 1_000;
    lag.confirm(12, clock.now);
    lag.streamLost();
    clock.now += 4_000;
    lag.reached(12);
    expect(lag.status).toEqual({ offset: 12, ledgerEnd: 12, age: 5_000 });
    lag.confirm(12, clock.now);
    expect(lag.status.age).toBe(0);
  });
});

describe("another history", () => {
  test("ends readiness at once, and answers go on within the second limit", () => {
    const { clock, lag } = current();
    lag.historyLost("the ledger ends at offset 4");
    expect(lag.notReadyReason()).toBe("the ledger ends at offset 4");
    expect(lag.staleReason()).toBeUndefined();
    clock.now += STALE + 1;
    lag.ledgerEndAt(4);
    expect(lag.staleReason()).toContain("60 s");
    expect(lag.notReadyReason()).toBe(lag.staleReason());
  });

  test("is over when the store has reached the present one, at a lower offset too", () => {
    const { lag } = current();
    lag.historyLost("the ledger ends at offset 4");
    lag.ledgerEndAt(4);
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
    const { clock, lag } = createTracker();
    const none = "no snapshot of the ledger has been taken yet";
    expect([lag.staleReason(), lag.notReadyReason()]).toEqual([none, none]);
    lag.confirm(10, clock.now);
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
    const { clock, lag } = current();
    clock.now += STALE * 2;
    expect(lag.staleReason()).toBeDefined();
    lag.confirm(10, clock.now);
    expect([lag.staleReason(), lag.notReadyReason()]).toEqual([undefined, undefined]);
  });
});

/** Requests for the ledger's end, answered by the test. */
function ledger() {
  const open: { answer: (end: number) => void; fail: (reason: Error) => void }[] = [];
  const counts = { asked: 0 };
  const ledgerEnd = () => {
    counts.asked++;
    return new Promise<number>((resolve, reject) => void open.push({ answer: resolve, fail: reject }));
  };
  /** Takes the oldest pending request, once there is one. */
  const next = async () => {
    await until("the ledger's end is asked for", () => open.length > 0);
    const question = open.shift();
    if (question === undefined) throw new Error("there is no question");
    return question;
  };
  return { ledgerEnd, next, counts };
}

const soon = <T>(promise: Promise<T>): Promise<T> => within(SOON_MS, "the end of a wait", promise);

/** Whether a promise has settled after all ready callbacks have run. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  const settle = () => {
    settled = true;
  };
  promise.then(settle, settle);
  for (let turns = 0; turns < 5; turns++) await turn();
  return settled;
}

const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;

describe("catching up", () => {
  test("ends when the store has reached the requested end", async () => {
    const { lag } = current(10);
    const { ledgerEnd, next } = ledger();
    const caughtUp = catchUp(lag, 10, ledgerEnd);
    (await next()).answer(13);
    expect(await isSettled(caughtUp)).toBe(false);
    lag.reached(12);
    expect(await isSettled(caughtUp)).toBe(false);
    lag.reached(13);
    expect(await soon(caughtUp)).toBe(true);
  });

  test("does not wait if the end is reached, and returns whether the store has moved", async () => {
    const { lag } = current(10);
    expect(await soon(catchUp(lag, 10, () => Promise.resolve(10)))).toBe(false);
    expect(await soon(catchUp(lag, 9, () => Promise.resolve(10)))).toBe(true);
    expect(await soon(catchUp(lag, 10, () => Promise.resolve(7)))).toBe(false);
  });

  test("notices an update before the answer", async () => {
    const { lag } = current(10);
    const { ledgerEnd, next } = ledger();
    const caughtUp = catchUp(lag, 10, ledgerEnd);
    const question = await next();
    lag.reached(11);
    question.answer(11);
    expect(await soon(caughtUp)).toBe(true);
  });

  test("updates the known end, and not the age: no stream has confirmed the end", async () => {
    const { clock, lag } = current(10);
    clock.now += 5_000;
    await soon(catchUp(lag, 10, () => Promise.resolve(9)));
    expect(lag.status).toEqual({ offset: 10, ledgerEnd: 9, age: 5_000 });
  });

  test("ends on timeout if the store does not move", async () => {
    const { lag } = current(10, 80);
    const began = performance.now();
    expect(await soon(catchUp(lag, 10, () => Promise.resolve(20)))).toBe(false);
    expect(performance.now() - began).toBeGreaterThan(60);
  });

  test("ends on timeout with true if the store has moved past the offset", async () => {
    const { lag } = current(10, 80);
    const caughtUp = catchUp(lag, 10, () => Promise.resolve(20));
    lag.reached(15);
    expect(await soon(caughtUp)).toBe(true);
  });

  test("ends on timeout if the ledger does not answer", async () => {
    const { lag } = current(10, 80);
    const { ledgerEnd, next } = ledger();
    expect(await soon(catchUp(lag, 10, ledgerEnd))).toBe(false);
    (await next()).answer(10);
  });

  test("neither waits nor throws if the ledger fails", async () => {
    const { lag } = current(10);
    expect(await soon(catchUp(lag, 10, () => Promise.reject(new Error("down"))))).toBe(false);
    expect(await soon(catchUp(lag, 10, () => Promise.resolve(10)))).toBe(false);
  });

  test("does not throw if the ledger fails after the timeout", async () => {
    const { lag } = current(10, 20);
    const { ledgerEnd, next } = ledger();
    expect(await soon(catchUp(lag, 10, ledgerEnd))).toBe(false);
    (await next()).fail(new Error("late"));
    // Unhandled, this failure would fail the run.
    await turn();
    expect(await soon(catchUp(lag, 10, () => Promise.resolve(10)))).toBe(false);
  });

  test("waits for the first snapshot", async () => {
    const { lag } = createTracker();
    const caughtUp = catchUp(lag, -1, () => Promise.resolve(10));
    expect(await isSettled(caughtUp)).toBe(false);
    lag.reached(10);
    expect(await soon(caughtUp)).toBe(true);
  });

  test("leaves no timers", async () => {
    const before = timers();
    const { lag } = current(10, 60_000);
    await soon(catchUp(lag, 10, () => Promise.resolve(10)));
    await soon(catchUp(lag, 10, () => Promise.reject(new Error("down"))));
    const moved = Array.from({ length: 50 }, () => catchUp(lag, 10, () => Promise.resolve(11)));
    expect(timers()).toBeGreaterThanOrEqual(before + 50);
    await turn();
    lag.reached(11);
    await soon(Promise.all(moved));
    await until("the timers are gone", () => timers() <= before);
  });
});

describe("concurrent callers of catchUp", () => {
  test("do not share a request that started before them", async () => {
    const { lag } = current(10);
    const { ledgerEnd, next, counts } = ledger();
    const first = catchUp(lag, 10, ledgerEnd);
    const question = await next();
    const second = catchUp(lag, 10, ledgerEnd);
    expect(counts.asked).toBe(1);
    // The second has seen offset 12, past the end that the first requested.
    question.answer(11);
    lag.reached(11);
    expect(await soon(first)).toBe(true);
    expect(await isSettled(second)).toBe(false);
    (await next()).answer(12);
    expect(await isSettled(second)).toBe(false);
    lag.reached(12);
    expect(await soon(second)).toBe(true);
    expect(counts.asked).toBe(2);
  });

  test("share the next request, however many they are", async () => {
    const { lag } = current(10);
    const { ledgerEnd, next, counts } = ledger();
    const first = catchUp(lag, 10, ledgerEnd);
    const question = await next();
    const others = Array.from({ length: 1_000 }, () => catchUp(lag, 10, ledgerEnd));
    question.answer(10);
    expect(await soon(first)).toBe(false);
    (await next()).answer(14);
    lag.reached(14);
    expect(new Set(await soon(Promise.all(others)))).toEqual(new Set([true]));
    expect(counts.asked).toBe(2);
  });

  test("request again after a failure", async () => {
    const { lag } = current(10);
    const { ledgerEnd, next, counts } = ledger();
    const first = catchUp(lag, 10, ledgerEnd);
    const question = await next();
    const second = catchUp(lag, 10, ledgerEnd);
    question.fail(new Error("down"));
    expect(await soon(first)).toBe(false);
    (await next()).answer(11);
    lag.reached(11);
    expect(await soon(second)).toBe(true);
    expect(counts.asked).toBe(2);
  });

  test("never have two requests in progress, and each gets an end requested after it came", async () => {
    const { lag } = current(0);
    let end = 0;
    let underWay = 0;
    let max = 0;
    let asked = 0;
    const ledgerEnd = async () => {
      max = Math.max(max, ++underWay);
      asked++;
      const now = end;
      for (let turns = asked % 3; turns >= 0; turns--) await turn();
      underWay--;
      return now;
    };
    const late: string[] = [];
    const waits: Promise<void>[] = [];
    for (let round = 1; round <= 300; round++) {
      end = round;
      const mine = round;
      waits.push(
        catchUp(lag, mine - 1, ledgerEnd).then((hasMoved) => {
          if (!hasMoved || (lag.status.offset ?? 0) < mine) late.push(`${mine}`);
        }),
      );
      if (round % 3 === 0) await turn();
      if (round % 5 === 0) lag.reached(end);
    }
    lag.reached(end);
    await soon(Promise.all(waits));
    expect(late).toEqual([]);
    expect(max).toBe(1);
    expect(asked).toBeLessThan(300);
  });
});
