import { expect, test } from "vitest";
import { SingleFlight } from "../../src/util/single-flight.js";

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
