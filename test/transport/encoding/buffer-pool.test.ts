/** The buffer pool: acquired buffers are exclusive, and the pool is bounded. */
import fc from "fast-check";
import { beforeEach, expect, test, vi } from "vitest";

const KB = 1024;
const MB = 1024 * KB;
/** The maximum number of pooled buffers. Each is at most a megabyte. */
const MAX_POOLED = 32;

/** A fresh module, as after a start of the service. */
let pool: typeof import("../../../src/transport/encoding/buffer-pool.js");
beforeEach(async () => {
  vi.resetModules();
  pool = await import("../../../src/transport/encoding/buffer-pool.js");
});

/** Acquires a number of buffers. */
const acquireMany = (much: number, length: number): Buffer[] =>
  Array.from({ length: much }, () => pool.acquire(length));

/** Counts the buffers that reuse the memory of earlier ones. */
function countReused(acquired: readonly Buffer[], before: readonly Buffer[]): number {
  const known = new Set(before.map(({ buffer }) => buffer));
  return acquired.filter(({ buffer }) => known.has(buffer)).length;
}

test("a released buffer is reused when it is large enough", () => {
  const first = pool.acquire(100 * KB);
  pool.release(first);
  const larger = pool.acquire(200 * KB);
  const smaller = pool.acquire(70 * KB);
  expect(countReused([larger], [first])).toBe(0);
  expect(countReused([smaller], [first])).toBe(1);
  for (const [one, length] of [
    [first, 100],
    [larger, 200],
    [smaller, 70],
  ] as const) {
    expect(one.length).toBeGreaterThanOrEqual(length * KB);
  }
});

test("small buffers are interchangeable", () => {
  const first = pool.acquire(1);
  pool.release(first);
  expect(countReused([pool.acquire(64 * KB)], [first])).toBe(1);
});

test("the number of pooled buffers is limited", () => {
  const before = acquireMany(MAX_POOLED + 10, 64 * KB);
  for (const one of before) pool.release(one);
  expect(countReused(acquireMany(MAX_POOLED + 10, 64 * KB), before)).toBe(MAX_POOLED);
});

test.each([
  [MB - 1, 1],
  [MB, 1],
  [MB + 1, 0],
  [5 * MB, 0],
])("a buffer of %d bytes is pooled: %d", (length, kept) => {
  const before = pool.acquire(length);
  expect(before.length).toBeGreaterThanOrEqual(length);
  pool.release(before);
  expect(countReused([pool.acquire(length)], [before])).toBe(kept);
});

test("buffers acquired at the same time are long enough and never overlap", () => {
  const length = fc.oneof(fc.integer({ min: 1, max: 4 * KB }), fc.constantFrom(64 * KB, 64 * KB + 1, MB, MB + 1));
  // Acquires a buffer, or releases one of those acquired.
  const step = fc.oneof(fc.record({ length }), fc.record({ back: fc.nat() }));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const out: { readonly bytes: Buffer; readonly mark: number; readonly length: number }[] = [];
      for (const [mark, one] of steps.entries()) {
        if ("length" in one) {
          const bytes = pool.acquire(one.length);
          // Overlapping buffers would share their first or last byte.
          out.push({ bytes, mark, length: one.length });
          bytes[bytes.length - 1] = mark;
          bytes[0] = mark;
        } else {
          const [back] = out.splice(one.back % Math.max(out.length, 1), 1);
          if (back !== undefined) pool.release(back.bytes);
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
