import { describe, expect, test } from "vitest";
import { FairLimiter } from "../../src/util/fair-limiter.js";
import { type Gate, gate } from "../fixtures/wait.js";

/** Starts tasks that end on demand, and records their order. */
function createTasks(limiter: FairLimiter<string>) {
  const started: string[] = [];
  const gates = new Map<string, Gate>();
  const run = (key: string, name: string): Promise<string | undefined> => {
    const ending = gate();
    gates.set(name, ending);
    return limiter.run(key, async () => {
      started.push(name);
      await ending.opened;
      return name;
    });
  };
  /** Ends a task and waits until its successor has started. */
  const end = async (name: string): Promise<void> => {
    gates.get(name)?.open();
    await new Promise(setImmediate);
  };
  return { started, run, end };
}

describe("tasks under way", () => {
  test("are limited in all and by key", async () => {
    const { started, run, end } = createTasks(new FairLimiter({ total: 3, perKey: 2, waiting: 10 }));
    const all = ["a1", "a2", "a3", "b1", "b2"].map((name) => run(name.slice(0, 1), name));
    expect(started).toEqual(["a1", "a2", "b1"]);
    await end("b1");
    expect(started).toEqual(["a1", "a2", "b1", "b2"]);
    await end("a1");
    expect(started).toEqual(["a1", "a2", "b1", "b2", "a3"]);
    for (const name of ["a2", "a3", "b2"]) await end(name);
    expect(await Promise.all(all)).toEqual(["a1", "a2", "a3", "b1", "b2"]);
  });

  test("that fail make way for the next, and the caller gets the error", async () => {
    const limiter = new FairLimiter<string>({ total: 1, perKey: 1, waiting: 10 });
    const failing = limiter.run("a", () => Promise.reject(new Error("this one")));
    const next = limiter.run("a", async () => "next");
    await expect(failing).rejects.toThrow("this one");
    expect(await next).toBe("next");
  });
});

describe("waiting tasks", () => {
  test("start by turns of their keys, not in the order of arrival", async () => {
    const { started, run, end } = createTasks(new FairLimiter({ total: 1, perKey: 1, waiting: 10 }));
    const all = ["a0", "a1", "a2", "a3", "b1", "b2", "c1"].map((name) => run(name.slice(0, 1), name));
    for (const name of ["a0", "a1", "b1", "c1", "a2", "b2", "a3"]) {
      expect(started.at(-1)).toBe(name);
      await end(name);
    }
    expect(await Promise.all(all)).toEqual(["a0", "a1", "a2", "a3", "b1", "b2", "c1"]);
  });

  test("are bounded: a key with many loses its last, and one with few waits", async () => {
    const { started, run, end } = createTasks(new FairLimiter({ total: 1, perKey: 1, waiting: 3 }));
    const many = ["a0", "a1", "a2", "a3"].map((name) => run("a", name));
    expect(await run("a", "a4")).toBeUndefined();
    const few = run("b", "b1");
    // The queues have two tasks and one: another of either key is refused.
    expect(await run("b", "b2")).toBeUndefined();
    expect(await many[3]).toBeUndefined();
    expect(await run("a", "a5")).toBeUndefined();
    for (const name of ["a0", "a1", "b1", "a2"]) await end(name);
    expect(started).toEqual(["a0", "a1", "b1", "a2"]);
    expect(await Promise.all([...many.slice(0, 3), few])).toEqual(["a0", "a1", "a2", "b1"]);
  });

  test("keep nothing of a key afterwards", async () => {
    const limiter = new FairLimiter<object>({ total: 2, perKey: 1, waiting: 1_000 });
    const runs = Array.from({ length: 500 }, (_, index) => limiter.run({}, async () => index));
    expect(await Promise.all(runs)).toEqual(Array.from({ length: 500 }, (_, index) => index));
    // All slots are free again.
    expect(await limiter.run({}, async () => "free")).toBe("free");
  });
});
