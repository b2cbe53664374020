/** The memory that is lent for answers: what is lent is one's own, and not much is kept. */
import fc from "fast-check";
import { beforeEach, expect, test, vi } from "vitest";

const KB = 1024;
const MB = 1024 * KB;
/** What is kept at most: so many pieces, each of at most a megabyte. */
const MOST = 32;

/** As it is in a service that has just been started. */
let memory: typeof import("../../../src/transport/encoding/buffer-pool.js");
beforeEach(async () => {
  vi.resetModules();
  memory = await import("../../../src/transport/encoding/buffer-pool.js");
});

/** Lends so many pieces of a length. */
const lendMany = (much: number, length: number): Buffer[] => Array.from({ length: much }, () => memory.acquire(length));

/** How many of them stand in memory that one of the others stood in. */
function knownOf(lent: readonly Buffer[], before: readonly Buffer[]): number {
  const known = new Set(before.map(({ buffer }) => buffer));
  return lent.filter(({ buffer }) => known.has(buffer)).length;
}

test("what is given back is lent again, to whom it is large enough for", () => {
  const first = memory.acquire(100 * KB);
  memory.release(first);
  const larger = memory.acquire(200 * KB);
  const smaller = memory.acquire(70 * KB);
  expect(knownOf([larger], [first])).toBe(0);
  expect(knownOf([smaller], [first])).toBe(1);
  for (const [one, length] of [
    [first, 100],
    [larger, 200],
    [smaller, 70],
  ] as const) {
    expect(one.length).toBeGreaterThanOrEqual(length * KB);
  }
});

test("what a small answer had will do for any other that is small", () => {
  const first = memory.acquire(1);
  memory.release(first);
  expect(knownOf([memory.acquire(64 * KB)], [first])).toBe(1);
});

test("no more is kept than so many pieces", () => {
  const before = lendMany(MOST + 10, 64 * KB);
  for (const one of before) memory.release(one);
  expect(knownOf(lendMany(MOST + 10, 64 * KB), before)).toBe(MOST);
});

test.each([
  [MB - 1, 1],
  [MB, 1],
  [MB + 1, 0],
  [5 * MB, 0],
])("of %d bytes it is kept: %d", (length, kept) => {
  const before = memory.acquire(length);
  expect(before.length).toBeGreaterThanOrEqual(length);
  memory.release(before);
  expect(knownOf([memory.acquire(length)], [before])).toBe(kept);
});

test("what is lent at the same time is of the length asked for at least, and shares nothing, whatever is lent and given back", () => {
  const length = fc.oneof(fc.integer({ min: 1, max: 4 * KB }), fc.constantFrom(64 * KB, 64 * KB + 1, MB, MB + 1));
  // What is to be lent, or which of those that are lent is given back.
  const step = fc.oneof(fc.record({ length }), fc.record({ back: fc.nat() }));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const out: { readonly bytes: Buffer; readonly mark: number; readonly length: number }[] = [];
      for (const [mark, one] of steps.entries()) {
        if ("length" in one) {
          const bytes = memory.acquire(one.length);
          // Written at both ends alone: what shares memory shares its beginning, or its end.
          out.push({ bytes, mark, length: one.length });
          bytes[bytes.length - 1] = mark;
          bytes[0] = mark;
        } else {
          const [back] = out.splice(one.back % Math.max(out.length, 1), 1);
          if (back !== undefined) memory.release(back.bytes);
        }
        expect(new Set(out.map(({ bytes }) => bytes.buffer)).size).toBe(out.length);
        for (const { bytes, ...own } of out) {
          expect(bytes.length).toBeGreaterThanOrEqual(own.length);
          expect([bytes[0], bytes.at(-1)]).toEqual([own.mark, own.mark]);
        }
      }
    }),
    { numRuns: 100 },
  );
});
