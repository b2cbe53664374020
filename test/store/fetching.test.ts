/** The promises of a store hold of one that fetches as well: what is tested on it is tested on a store. */
import { MemoryStore } from "../../src/store/memory/memory-store.js";
import { FetchingReader } from "../fixtures/fetching-reader.js";
import { storePromises } from "./conformance.js";

storePromises("in memory, and fetched from there", async () => {
  const store = new MemoryStore();
  return { reader: new FetchingReader(store), writer: store, close: async () => {} };
});
