/** Holds a store to src/store/port.ts: every promise has a case. */
import { describe } from "vitest";
import { withoutStateCases } from "./conformance/first-state.js";
import { readCases } from "./conformance/read.js";
import { viewCases } from "./conformance/view.js";
import { contractCases } from "./conformance/contract.js";
import { replaceCases } from "./conformance/replace.js";
import { templateCountsCases } from "./conformance/template-counts.js";
import { sumsCases } from "./conformance/sums.js";
import { countedOnlyCases } from "./conformance/counted-only.js";
import { asOfCases } from "./conformance/as-of.js";
import { applyCases } from "./conformance/apply.js";
import { createSubject, type MakeStore } from "./conformance/subject.js";

export type { StoreUnderTest } from "./conformance/subject.js";

/** Declares all cases for one store. */
export function storeConformance(name: string, makeStore: MakeStore): void {
  describe(`store conformance: ${name}`, () => {
    const subject = createSubject(makeStore);
    withoutStateCases(subject);
    readCases(subject);
    viewCases(subject);
    contractCases(subject);
    replaceCases(subject);
    templateCountsCases(subject);
    sumsCases(subject);
    countedOnlyCases(subject);
    asOfCases(subject);
    applyCases(subject);
  });
}
