import { expect, test } from "vitest";
import { countExternalGarbage } from "../../src/util/external-garbage.js";

const CHUNKS = 1_000;
const CHUNK_BYTES = 64 * 1024;
const MEGABYTE = 1024 * 1024;

/** The most bytes of buffers at a time, while one buffer after another becomes garbage. */
function mostBytes(use: (chunk: Buffer) => void): number {
  const before = process.memoryUsage().arrayBuffers;
  let most = 0;
  for (let count = 0; count < CHUNKS; count++) {
    use(Buffer.allocUnsafeSlow(CHUNK_BYTES));
    most = Math.max(most, process.memoryUsage().arrayBuffers - before);
  }
  return most;
}

test("buffers that are counted are collected before they are many", () => {
  expect(mostBytes(({ length }) => countExternalGarbage(length))).toBeLessThan(8 * MEGABYTE);
});

// When this fails, the module can go.
test("V8 alone lets many buffers accumulate", () => {
  expect(mostBytes(() => undefined)).toBeGreaterThan(12 * MEGABYTE);
});
