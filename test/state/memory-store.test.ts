import { expect, test } from "vitest";
import type { Template } from "../../src/domain/template.js";
import { MemoryStore } from "../../src/state/memory-store.js";
import { NotReady } from "../../src/state/port.js";
import { ForgetfulReader, half } from "../fixtures/forgetful-reader.js";
import { GROWER, storeConformance } from "./conformance/conformance.js";

const close = async () => {};

storeConformance("memory", async () => {
  const store = new MemoryStore();
  return { reader: store, writer: store, close };
});

/** The sessions of a database store on a memory store: each read has forgotten a part of what it knew, and fetches it. */
const forgetful = (remembers: () => boolean) => async (templates: readonly Template[]) => {
  const store = new MemoryStore();
  return { reader: new ForgetfulReader(store, { templates, registrars: [GROWER], remembers }), writer: store, close };
};
storeConformance(
  "memory, behind a reader that has forgotten everything",
  forgetful(() => false),
);
storeConformance("memory, behind a reader that has forgotten a part", forgetful(half(1)));

test("the memory store is synchronous", async () => {
  const store = new MemoryStore();
  expect(() => store.read(() => "read")).toThrow(NotReady);
  await store.replace([], 5);
  expect(store.read(({ offset }) => offset)).toBe(5);
});
