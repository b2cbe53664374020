import { expect, test } from "vitest";
import { MemoryStore } from "../../../src/store/memory/memory-store.js";
import { NotReady } from "../../../src/store/port.js";
import { storeConformance } from "../conformance.js";

storeConformance("memory", async () => {
  const store = new MemoryStore();
  return { reader: store, writer: store, close: async () => {} };
});

test("the memory store is synchronous", async () => {
  const store = new MemoryStore();
  expect(() => store.read(() => "read")).toThrow(NotReady);
  await store.replace([], 5);
  expect(store.read(({ offset }) => offset)).toBe(5);
  expect(() =>
    store.read(({ offset }) => {
      throw new Error(`at ${offset}`);
    }),
  ).toThrow("at 5");
});
