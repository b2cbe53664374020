/** Delays, timeouts, shared calls, retries and memory. */
import net from "node:net";
import { describe, expect, test } from "vitest";
import { backoffMs, SingleFlight, withJitter, withTimeout } from "../../src/util/async.js";
import { errorMessage } from "../../src/util/logger.js";
import { boundedMemoize, memoizeLast } from "../../src/util/memoize.js";
import { Retries } from "../../src/util/retries.js";

test.each([
  [1, 100],
  [2, 200],
  [4, 800],
  [5, 1_000],
  [1_000_000, 1_000],
])("after %i failures the delay is %i ms", (failures, delay) => {
  expect(backoffMs(failures, { firstMs: 100, maxMs: 1_000 })).toBe(delay);
});

test("jitter keeps a delay in its upper half", () => {
  expect([withJitter(1_000, () => 0), withJitter(1_000, () => 1)]).toEqual([500, 1_000]);
});

test("a timeout settles as its promise does, or else as onTimeout does", async () => {
  const never = new Promise<string>(() => {});
  expect(await withTimeout(Promise.resolve("in time"), 60_000, () => "late")).toBe("in time");
  await expect(withTimeout(Promise.reject(new Error("failed")), 60_000, () => "late")).rejects.toThrow("failed");
  expect(await withTimeout(never, 1, () => "late")).toBe("late");
  const throwing = () => {
    throw new Error("too late");
  };
  await expect(withTimeout(never, 1, throwing)).rejects.toThrow("too late");
});

describe("a call in progress", () => {
  /** Calls that stay in progress until the test settles them. */
  function pendingCalls() {
    const calls: { resolve: (value: number) => void; reject: (error: Error) => void }[] = [];
    const call = () => new Promise<number>((resolve, reject) => calls.push({ resolve, reject }));
    return { calls, flight: new SingleFlight(call) };
  }

  test("makes its callers share the next one, after which a new one starts", async () => {
    const { calls, flight } = pendingCalls();
    const [first, second, third] = [flight.run(), flight.run(), flight.run()];
    expect(calls).toHaveLength(1);
    calls[0]?.resolve(1);
    expect(await first).toBe(1);
    expect(calls).toHaveLength(2);
    calls[1]?.resolve(2);
    expect(await Promise.all([second, third])).toEqual([2, 2]);
    void flight.run();
    expect(calls).toHaveLength(3);
  });

  test("that fails rejects its own callers and not those of the next", async () => {
    const { calls, flight } = pendingCalls();
    const [first, second] = [flight.run(), flight.run()];
    calls[0]?.reject(new Error("lost"));
    await expect(first).rejects.toThrow("lost");
    calls[1]?.resolve(2);
    expect(await second).toBe(2);
  });

  test("that is shared has the arguments of its first caller", async () => {
    const timeouts: number[] = [];
    const flight = new SingleFlight(async (timeout: number) => void timeouts.push(timeout));
    await Promise.all([flight.run(1), flight.run(2), flight.run(3)]);
    expect(timeouts).toEqual([1, 2]);
  });
});

describe("retries", () => {
  /** Attempts that last so many milliseconds each. Returns what was asked after each, and how long was paused. */
  async function retried(lasted: readonly number[], delays: readonly (number | undefined)[] = []) {
    const end = new AbortController();
    let now = 0;
    const [asked, paused]: [[number, unknown][], number[]] = [[], []];
    const pause = async (ms: number) => void paused.push(ms);
    const retries = new Retries({ clock: () => now, pause, signal: end.signal });
    const durations = lasted.values();
    await retries.run(
      async () => {
        const { value, done } = durations.next();
        if (done === true) return end.abort();
        now += value;
        if (value < 0) retries.recovered();
        if (value % 2 === 1) throw new Error(`after ${value}`);
      },
      (failures, error) => {
        asked.push([failures, error instanceof Error ? error.message : error]);
        return asked.length > delays.length ? 1 : delays[asked.length - 1];
      },
    );
    return { asked, paused };
  }
  const failuresOf = ({ asked }: Awaited<ReturnType<typeof retried>>) => asked.map(([failures]) => failures);

  test("count failures in a row, whether the attempt throws or ends", async () => {
    const { asked, paused } = await retried([1, 2, 3]);
    expect(asked.flat()).toEqual([1, "after 1", 2, undefined, 3, "after 3"]);
    expect(paused).toEqual([1, 1, 1]);
  });

  test("begin a new row after an attempt that has lasted, or has recovered", async () => {
    expect(failuresOf(await retried([2, 30_002, 2, -2, 2]))).toEqual([1, 1, 2, 1, 2]);
  });

  test("neither count what is tried again at once nor wait for it", async () => {
    const found = await retried([2, 2, 2], [undefined, 5, undefined]);
    expect(failuresOf(found)).toEqual([1, 1, 2]);
    expect(found.paused).toEqual([5]);
  });
});

describe("memory", () => {
  test("of names keeps neither long names nor more than the bound", () => {
    const calls: string[] = [];
    const memoized = boundedMemoize((name) => {
      calls.push(name);
      return name.toUpperCase();
    });
    expect([memoized("a"), memoized("b"), memoized("a")]).toEqual(["A", "B", "A"]);
    expect(calls).toEqual(["a", "b"]);
    const long = "n".repeat(301);
    for (const name of [long, long]) memoized(name);
    expect(calls).toHaveLength(4);
    for (let index = 0; index < 9_998; index++) memoized(`name ${index}`);
    for (const name of ["one more", "one more", "name 0"]) memoized(name);
    expect(calls).toHaveLength(4 + 9_998 + 2);
  });

  test("of the last key computes once for calls that repeat, and again after another, undefined too", () => {
    const computed: number[] = [];
    const double = memoizeLast(({ value }: { readonly value: number }) => {
      computed.push(value);
      return value === 0 ? undefined : value * 2;
    });
    const [one, two, none] = [{ value: 1 }, { value: 2 }, { value: 0 }];
    const found = [one, one, two, two, one, { value: 1 }, none, none].map(double);
    expect(found).toEqual([2, 2, 4, 4, 2, 2, undefined, undefined]);
    expect(computed).toEqual([1, 2, 1, 1, 0]);
  });
});

test("the message of an error without its own: a name with two addresses on which nothing listens", async () => {
  const error = await new Promise((resolve) => {
    const addresses = ["127.0.0.1", "127.0.0.2"].map((address) => ({ address, family: 4 }));
    const lookup: net.LookupFunction = (_host, _options, done) => done(null, addresses);
    // Port 9 is reserved for a service that hardly any machine runs.
    net.connect({ host: "two.example", port: 9, lookup, autoSelectFamily: true }).on("error", resolve);
  });
  expect(error).toHaveProperty("message", "");
  expect(errorMessage(error)).toBe("connect ECONNREFUSED 127.0.0.1:9; connect ECONNREFUSED 127.0.0.2:9");
});
