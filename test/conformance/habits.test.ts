/** Other registries, as their sources say they answer: what is wrong in them is found, and nothing else is called a `must`. */
import { describe, expect, test } from "vitest";
import type { Result } from "../../packages/conformance/src/check.js";
import { type Given, run } from "../../packages/conformance/src/run.js";
import { readHabits, replay } from "./habits.js";

const nothing: Given = {
  registrar: undefined,
  instruments: [],
  sender: undefined,
  receiver: undefined,
  holdings: [],
  offer: undefined,
  allocation: undefined,
  allocationInstruction: undefined,
  replica: undefined,
  negative: false,
};

describe.each(readHabits())("$name", (habit) => {
  test.each([false, true])("is judged rightly, with wrong requests: %j", async (negative) => {
    const results: Result[] = [];
    const { url, close } = await replay(habit);
    try {
      const known = { ...nothing, ...habit.known, negative };
      await run(url, known, { headers: {}, rate: 1_000 }, (result) => void results.push(result));
    } finally {
      close();
    }
    const failed = results.filter(({ outcome, check }) => outcome === "failed" && check.severity === "must");
    const found = habit.found.map(({ check }) => check);
    const missed = new Set((habit.missed ?? []).map(({ check }) => check));
    const wrongly = failed.filter(({ check }) => !found.includes(check.id) && !missed.has(check.id));
    expect(wrongly.map(({ check, message }) => `${check.id}: ${message}`)).toEqual([]);
    expect(failed.map(({ check }) => check.id)).toEqual(expect.arrayContaining(found));
  });
});
