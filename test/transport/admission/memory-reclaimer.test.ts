/** Garbage of connections and requests is collected when a load has ended, and only then. */
import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { MemoryReclaimer } from "../../../src/transport/admission/memory-reclaimer.js";
import { beginMajorCollection } from "../../../src/util/major-collection.js";
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

// When this fails, the module can go.
test("V8 alone keeps garbage in an idle process", async () => {
  const before = await makeGarbage();
  await pause(300);
  expect(used()).toBeGreaterThan(before - GARBAGE);
});

test("the garbage of a load is collected when it has ended", async () => {
  let load = 1_200;
  const reclaimer = new MemoryReclaimer(() => load, beginMajorCollection, SAMPLE_MS);
  reclaimer.start();
  onTestFinished(() => reclaimer.stop());
  await pause(3 * SAMPLE_MS);
  const before = await makeGarbage();
  load = 10;
  await until("the garbage is collected", () => used() < before - GARBAGE);
  expect(used()).toBeLessThan(before - GARBAGE);
});

/** How often garbage is collected, with one of these loads at each sample. */
async function collections(...loads: readonly number[]): Promise<number> {
  let [samples, collected] = [0, 0];
  const load = () => loads[Math.min(samples++, loads.length - 1)] ?? 0;
  const reclaimer = new MemoryReclaimer(load, () => collected++, SAMPLE_MS);
  reclaimer.start();
  onTestFinished(() => reclaimer.stop());
  await until("each load is sampled, and the last of them again", () => samples > loads.length + 6);
  return collected;
}

test.for([
  { loads: [1_000, 10], times: 3 },
  { loads: [1_000, 10, 10, 10, 10, 1_000, 10], times: 6 },
  { loads: [100, 24], times: 3 },
  { loads: [60, 0], times: 0 },
  { loads: [1_000, 300, 900, 260], times: 0 },
  { loads: [0, 1_000], times: 0 },
  // A load that pauses for a sample, or that is back.
  { loads: [1_000, 10, 1_000], times: 0 },
  { loads: [1_000, 10, 1_000, 10], times: 3 },
  { loads: [1_000, 10, 10, 250], times: 1 },
  { loads: [1_000, 10, 10, 249], times: 3 },
])("loads of $loads at one sample each: $times times", async ({ loads, times }) => {
  expect(await collections(...loads)).toBe(times);
});
