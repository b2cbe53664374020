/** A store that fetches passes the conformance cases too, so tests on the fixture are tests on a store. */
import { MemoryStore } from "../../src/store/memory/memory-store.js";
import { FetchingReader } from "../fixtures/fetching-reader.js";
import { storeConformance } from "./conformance.js";

storeConformance("memory, behind a reader that fetches", async () => {
  const store = new MemoryStore();
  return { reader: new FetchingReader(store), writer: store, close: async () => {} };
});
