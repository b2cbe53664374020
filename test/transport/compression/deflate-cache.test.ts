/** The bounds of the cache of compressed chunks: memory, and compression at once and per second. */
import { describe, expect, test } from "vitest";
import { DeflateCache, DeflateSlot } from "../../../src/transport/compression/deflate-cache.js";
import { TokenBucket } from "../../../src/transport/compression/token-bucket.js";

const MANY = 1_000_000;
const chunk = (name: string): string => `${name},`.repeat(200);
const unlimited = () => new TokenBucket(MANY, 0);

test("a chunk is compressed once while it is used", () => {
  const cache = new DeflateCache(MANY, unlimited());
  const slot = new DeflateSlot();
  const first = cache.get(slot, chunk("a"));
  expect(first?.length).toBe(chunk("a").length - 1);
  expect(cache.get(slot, chunk("a"))).toBe(first);
  expect(cache.count).toBe(1);
});

test("a chunk that compression does not make shorter is tried once", () => {
  const cache = new DeflateCache(MANY, unlimited());
  const slot = new DeflateSlot();
  for (let time = 0; time < 3; time++) expect(cache.get(slot, "abc")).toBeUndefined();
  expect(cache.count).toBe(1);
});

test("memory is bounded: chunks that are not used for two generations are dropped, the others are kept", () => {
  const MAX = 20_000;
  const cache = new DeflateCache(MAX, unlimited());
  const used = new DeflateSlot();
  const slots = Array.from({ length: 1_000 }, () => new DeflateSlot());
  const sizes: number[] = [];
  for (const [index, slot] of slots.entries()) {
    cache.get(slot, chunk(`chunk ${index}`));
    cache.get(used, chunk("used"));
    sizes.push(slots.reduce((sum, { deflated }) => sum + (deflated?.blocks.length ?? 0), 0));
  }
  expect(Math.max(...sizes)).toBeLessThan(2 * MAX);
  expect(Math.max(...sizes)).toBeGreaterThan(1_000);
  expect(cache.count).toBe(1_000 + 1);
  // A dropped chunk is compressed again.
  expect(slots[0]?.deflated).toBeUndefined();
  expect(cache.get(slots[0] ?? used, chunk("chunk 0"))).toBeDefined();
  expect(cache.count).toBe(1_000 + 2);
});

describe("a token bucket", () => {
  test("allows some at once, and more as time goes by", () => {
    let now = 0;
    const bucket = new TokenBucket(3, 10, () => now);
    const take = (times: number) => Array.from({ length: times }, () => bucket.take()).filter(Boolean).length;
    expect(take(5)).toBe(3);
    now += 99;
    expect(take(5)).toBe(0);
    now += 101;
    expect(take(5)).toBe(2);
    now += 1_000_000;
    expect(take(5)).toBe(3);
  });

  test("limits what is compressed; the rest stays as it is until later", () => {
    let now = 0;
    const cache = new DeflateCache(MANY, new TokenBucket(2, 1, () => now));
    const slots = [new DeflateSlot(), new DeflateSlot(), new DeflateSlot()];
    const compressed = () => slots.map((slot, index) => cache.get(slot, chunk(String(index))) !== undefined);
    expect(compressed()).toEqual([true, true, false]);
    expect(compressed()).toEqual([true, true, false]);
    now += 1_000;
    expect(compressed()).toEqual([true, true, true]);
  });
});
