import { MemoryStore } from "../../src/state/memory-store.js";
import { storeConformance } from "./conformance/conformance.js";

const close = async () => {};

storeConformance("memory", async () => {
  const store = new MemoryStore();
  return { reader: store, writer: store, close };
});
