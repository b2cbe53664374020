import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { MemoryReturn } from "../../../src/transport/admission/memory-return.js";
import { heap } from "../../fixtures/heap.js";
import { until } from "../../fixtures/wait.js";

const MEGABYTE = 1024 * 1024;
const OBJECTS = 400_000;
/** Of the objects, at least. */
const GARBAGE = 20 * MEGABYTE;
const SAMPLE_MS = 20;

const used = () => process.memoryUsage().heapUsed;

/** Makes garbage that has lived long. Returns the bytes of the heap that are used with it. */
async function makeGarbage(): Promise<number> {
  const objects: { readonly values: number[] }[] = [];
  for (let count = 0; count < OBJECTS; count++) objects.push({ values: [count, count + 1] });
  await pause(1);
  // They are old then, and no collection is under way.
  heap();
  expect(objects).toHaveLength(OBJECTS);
  objects.length = 0;
  return used();
}

function startWith(load: () => number): void {
  const memory = new MemoryReturn(load, SAMPLE_MS);
  memory.start();
  onTestFinished(() => memory.stop());
}

test("the garbage of a load is collected when it has ended", async () => {
  let load = 1_200;
  startWith(() => load);
  await pause(3 * SAMPLE_MS);
  const before = await makeGarbage();
  load = 10;
  await until("the garbage is collected", () => used() < before - GARBAGE);
  expect(used()).toBeLessThan(before - GARBAGE);
});

// When this fails, the module can go.
test("V8 alone keeps it in an idle process", async () => {
  const before = await makeGarbage();
  await pause(1_000);
  expect(used()).toBeGreaterThan(before - GARBAGE);
});

test.for([
  ["a small load that ends", [60, 0]],
  ["a load that becomes less", [1_000, 300, 900, 260]],
] as const)("nothing is collected after %s", async ([, loads]) => {
  let at = 0;
  let samples = 0;
  startWith(() => {
    samples++;
    return loads[at] ?? 0;
  });
  const before = await makeGarbage();
  for (; at < loads.length - 1; at++) {
    const seen = samples;
    // oxlint-disable-next-line no-await-in-loop
    await until("the load is seen", () => samples > seen + 2);
  }
  await pause(10 * SAMPLE_MS);
  expect(used()).toBeGreaterThan(before - GARBAGE);
});
