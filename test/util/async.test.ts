import { expect, test } from "vitest";
import { backoffMs, SingleFlight, withJitter, withTimeout } from "../../src/util/async.js";

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
  expect(withJitter(1_000, () => 0)).toBe(500);
  expect(withJitter(1_000, () => 1)).toBe(1_000);
});

const never = new Promise<string>(() => {});

test("settles as the promise does if that is in time", async () => {
  expect(await withTimeout(Promise.resolve("in time"), 60_000, () => "late")).toBe("in time");
  await expect(withTimeout(Promise.reject(new Error("failed")), 60_000, () => "late")).rejects.toThrow("failed");
});

test("returns the result of onTimeout after the time", async () => {
  expect(await withTimeout(never, 1, () => "late")).toBe("late");
});

test("rejects if onTimeout throws", async () => {
  const timeout = withTimeout(never, 1, () => {
    throw new Error("too late");
  });
  await expect(timeout).rejects.toThrow("too late");
});

/** Calls that stay in progress until the test settles them. */
function pendingCalls() {
  const calls: { resolve: (value: number) => void; reject: (error: Error) => void }[] = [];
  const call = () => new Promise<number>((resolve, reject) => calls.push({ resolve, reject }));
  return { calls, flight: new SingleFlight(call) };
}

test("callers during a call share the next one", async () => {
  const { calls, flight } = pendingCalls();
  const first = flight.run();
  const [second, third] = [flight.run(), flight.run()];
  expect(calls).toHaveLength(1);
  calls[0]?.resolve(1);
  expect(await first).toBe(1);
  expect(calls).toHaveLength(2);
  calls[1]?.resolve(2);
  expect(await Promise.all([second, third])).toEqual([2, 2]);
});

test("a failed call rejects its own callers and not those of the next", async () => {
  const { calls, flight } = pendingCalls();
  const first = flight.run();
  const second = flight.run();
  calls[0]?.reject(new Error("lost"));
  await expect(first).rejects.toThrow("lost");
  calls[1]?.resolve(2);
  expect(await second).toBe(2);
});

test("a caller after the end starts a new call", async () => {
  const { calls, flight } = pendingCalls();
  const first = flight.run();
  calls[0]?.resolve(1);
  await first;
  void flight.run();
  expect(calls).toHaveLength(2);
});

test("a shared call has the arguments of its first caller", async () => {
  const timeouts: number[] = [];
  const flight = new SingleFlight(async (timeout: number) => {
    timeouts.push(timeout);
  });
  await Promise.all([flight.run(1), flight.run(2), flight.run(3)]);
  expect(timeouts).toEqual([1, 2]);
});
