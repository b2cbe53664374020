/** Turns that only accept connections: several in a row, and for a bounded time. */
import { expect, test } from "vitest";
import { AcceptTurns } from "../../../src/transport/admission/accept-turns.js";

/** Ends turns of some milliseconds, each of which accepts a connection. Returns those in which requests waited. */
function acceptIn(turns: AcceptTurns, startedAt: number, count: number, turnMs: number): number[] {
  const waited: number[] = [];
  for (let at = 1; at <= count; at++) {
    if (turns.isAccepting) waited.push(at);
    turns.add();
    turns.endTurn(turns.isAccepting, startedAt + at * turnMs);
  }
  return waited;
}

function begin(): { turns: AcceptTurns; now: number } {
  const turns = new AcceptTurns();
  const now = performance.now() + 1_000;
  turns.endTurn(false, now);
  return { turns, now };
}

test("requests wait after 128 turns in a row that accept a connection, until one accepts none", () => {
  const { turns, now } = begin();
  expect(acceptIn(turns, now, 131, 1)).toEqual([129, 130, 131]);
  expect(turns.isAccepting).toBe(true);
  expect(turns.endTurn(true, now + 132)).toBe(false);
  expect(turns.isAccepting).toBe(false);
});

test("a connection now and then delays no request", () => {
  const { turns, now } = begin();
  for (let at = 0; at < 10; at++) {
    turns.add();
    expect(turns.endTurn(false, now + at * 2)).toBe(true);
    expect(turns.isAccepting).toBe(false);
    expect(turns.endTurn(false, now + at * 2 + 1)).toBe(false);
  }
});

test("requests wait for some 150 ms in a row, and then for a twentieth of the time", () => {
  const { turns, now } = begin();
  const waited = acceptIn(turns, now, 3_000, 1);
  const first = waited.findIndex((turn, at) => at > 0 && turn !== (waited[at - 1] ?? 0) + 1);
  // 150 ms, and what accrues meanwhile.
  expect(first).toBeGreaterThanOrEqual(150);
  expect(first).toBeLessThan(160);
  const later = waited.filter((turn) => turn > 1_000);
  expect(later.length).toBeGreaterThan(90);
  expect(later.length).toBeLessThan(110);
});

test("turns without waiting requests cost nothing", () => {
  const { turns, now } = begin();
  for (let at = 1; at <= 1_000; at++) {
    turns.add();
    turns.endTurn(false, now + at);
  }
  expect(acceptIn(turns, now + 1_000, 100, 1)).toHaveLength(100);
});

test("requests do not wait where turns are long although none is handled", () => {
  const { turns, now } = begin();
  expect(acceptIn(turns, now, 200, 10)).toEqual([129]);
  turns.endTurn(false, now + 2_001);
  // The next row of connections has its chance.
  expect(acceptIn(turns, now + 2_001, 131, 1)).toEqual([129, 130, 131]);
});
