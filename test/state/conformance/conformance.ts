/** Holds a store to src/state/port.ts: every promise has a case. */
import { describe } from "vitest";
import { readCases } from "./reads.js";
import { createSubject, type MakeStore } from "./subject.js";
import { writeCases } from "./writes.js";

export { GROWER, type StoreUnderTest } from "./subject.js";

/** Declares all cases for one store. */
export function storeConformance(name: string, makeStore: MakeStore): void {
  describe(`store conformance: ${name}`, () => {
    const subject = createSubject(makeStore);
    readCases(subject);
    writeCases(subject);
  });
}
