/** A store that forgets passes the conformance cases too, so tests on the fixture are tests on a store. */
import { MemoryStore } from "../../src/store/memory/memory-store.js";
import { ForgetfulReader, half } from "../fixtures/forgetful-reader.js";
import { storeConformance } from "./conformance.js";
import { GROWER } from "./conformance/fixtures.js";

storeConformance("memory, behind a reader that has forgotten everything", async (templates) => {
  const store = new MemoryStore();
  return {
    reader: new ForgetfulReader(store, { templates, registrars: [GROWER] }),
    writer: store,
    close: async () => {},
  };
});

storeConformance("memory, behind a reader that has forgotten a part", async (templates) => {
  const store = new MemoryStore();
  const reader = new ForgetfulReader(store, { templates, registrars: [GROWER], remembers: half(1) });
  return { reader, writer: store, close: async () => {} };
});
