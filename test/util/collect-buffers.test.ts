import { expect, test } from "vitest";
import { countExternalGarbage } from "../../src/util/collect-buffers.js";

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

test("buffers that are counted do not gather as garbage until a full collection", () => {
  expect(mostBytes(({ length }) => countExternalGarbage(length))).toBeLessThan(8 * MEGABYTE);
});

test("by itself V8 lets them gather: without this test there is no need to count", () => {
  expect(mostBytes(() => undefined)).toBeGreaterThan(12 * MEGABYTE);
});
