import { describe, expect, test } from "vitest";
import { BodyBuffer } from "../../../src/transport/bodies.js";
import { Budget, createBudgets } from "../../../src/transport/limits.js";

const KIB = 1024;

describe("a budget", () => {
  test("gives what is left, and counts what it refuses", () => {
    const budget = new Budget(10);
    expect([budget.tryTake(6), budget.tryTake(5), budget.tryTake(4)]).toEqual([true, false, true]);
    expect(budget).toMatchObject({ used: 10, refused: 1 });
    budget.release(6);
    expect(budget.used).toBe(4);
  });
});

describe("the default budgets", () => {
  test("come from the memory, within bounds", () => {
    const { bodies, responses, requests } = createBudgets();
    for (const { limit } of [bodies, responses]) {
      expect(limit).toBeGreaterThanOrEqual(16 * KIB * KIB);
      expect(limit).toBeLessThanOrEqual(512 * KIB * KIB);
    }
    expect(requests.limit).toBeGreaterThan(500);
    expect(requests.limit).toBeLessThanOrEqual(20_000);
  });
});

describe("a body", () => {
  test("of a million chunks of a byte costs at most twice its bytes", () => {
    const budget = new Budget(4 * KIB * KIB);
    const body = new BodyBuffer(budget, { limit: 4 * KIB * KIB, expected: undefined });
    let most = 0;
    for (let at = 0; at < 1_000_000; at++) {
      if (!body.add(Buffer.from([at % 251]))) throw new Error("the budget is used up");
      most = Math.max(most, budget.used / Math.max(2_048, at + 1));
    }
    expect(most).toBeLessThanOrEqual(2);
    expect(body.bytes.length).toBe(1_000_000);
    expect([0, 1, 250, 251, 999_999].map((at) => body.bytes[at])).toEqual([0, 1, 250, 0, 999_999 % 251]);
    body.release();
    expect(budget.used).toBe(0);
  });

  test("that is large keeps its bytes while it grows, and after its release", () => {
    const budget = new Budget(4 * KIB * KIB);
    const body = new BodyBuffer(budget, { limit: KIB * KIB, expected: undefined });
    const chunks = Array.from({ length: 10 }, (_, at) => Buffer.alloc(100_000, at));
    for (const chunk of chunks) expect(body.add(chunk)).toBe(true);
    expect(budget.used).toBeLessThanOrEqual(KIB * KIB);
    const bytes = body.bytes;
    body.release();
    expect(bytes.equals(Buffer.concat(chunks))).toBe(true);
  });

  test("beyond the budget is not taken, and what was taken is released", () => {
    const budget = new Budget(8 * KIB);
    const body = new BodyBuffer(budget, { limit: 4 * KIB * KIB, expected: undefined });
    expect(body.add(Buffer.alloc(5 * KIB))).toBe(true);
    expect(body.add(Buffer.alloc(3 * KIB + 1))).toBe(false);
    expect(body.length).toBe(5 * KIB);
    body.release();
    expect(budget.used).toBe(0);
  });
});
