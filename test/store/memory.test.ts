import { MemoryStore } from "../../src/store/memory.js";
import { storePromises } from "./conformance.js";

storePromises("in memory", async () => {
  const store = new MemoryStore();
  return { reader: store, writer: store, close: async () => {} };
});
