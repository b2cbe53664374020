import { expect, test } from "vitest";
import { withTimeout } from "../../src/util/timeout.js";

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
