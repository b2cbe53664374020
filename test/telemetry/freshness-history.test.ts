/** The points of the last hour: their number is bounded, and the timer stops. */
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { FreshnessHistory } from "../../src/telemetry/freshness-history.js";
import { until } from "../fixtures/wait.js";

function sampling() {
  let samples = 0;
  const status = () => {
    samples++;
    return { offset: samples, age: 1.5, reconnects: 2, isLeader: undefined, pool: undefined };
  };
  return { history: new FreshnessHistory(status, () => samples * 1000, 1), samples: () => samples };
}

test("has at most 720 points, oldest first, the last of now", async () => {
  const { history, samples } = sampling();
  try {
    expect(history.points()).toEqual([{ time: 1000, offset: 1, age: 1.5, reconnects: 2 }]);
    await until("more than 800 samples were taken", () => samples() > 800, 60_000);
  } finally {
    history.close();
  }
  const points = history.points();
  expect(points).toHaveLength(720);
  expect(points.at(-1)?.offset).toBe(samples());
  for (const [at, { offset, time }] of points.entries()) {
    expect(offset).toBe(samples() - 719 + at);
    expect(time).toBe((samples() - 719 + at) * 1000);
  }
});

test("samples no more when it is closed", async () => {
  const { history, samples } = sampling();
  await until("a sample was taken", () => samples() > 0);
  history.close();
  const before = samples();
  await pause(50);
  expect(samples()).toBe(before);
});
