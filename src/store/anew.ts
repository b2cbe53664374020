import type { Contract } from "./store.js";

/** Longer texts are contract ids and the like, which stand in one contract alone; shorter ones may be shared by many. */
const LONGEST_SHARED = 128;

/**
 * The same contract in memory that was just taken. Contracts of a snapshot lie
 * among gigabytes of blobs and payloads, each in memory pages of its own, and
 * those that are asked for are few: made anew when they are first asked for they
 * lie next to one another, which the processor finds at once. Its fields are
 * named for the sake of speed; see ledger/decode.ts.
 */
export function anew(contract: Contract): Contract {
  return {
    facts: factsAnew(contract.facts),
    kind: contract.kind,
    synchronizerId: contract.synchronizerId,
    derived: [],
    keys: contract.keys,
    share: contract.share,
    contractId: contract.contractId,
    templateId: contract.templateId,
    payload: contract.payload,
    createdEventBlob: contract.createdEventBlob,
    createdAt: contract.createdAt,
    createdMicros: contract.createdMicros,
    reassignmentCounter: contract.reassignmentCounter,
  };
}

function factsAnew(facts: unknown): unknown {
  if (typeof facts !== "object" || facts === null || Object.getPrototypeOf(facts) !== Object.prototype) return facts;
  return Object.fromEntries(Object.entries(facts).map(([name, value]) => [name, textAnew(value)]));
}

/** JSON keeps every text, whatever characters it has, and makes it one of its own. */
function textAnew(value: unknown): unknown {
  return typeof value === "string" && value.length > LONGEST_SHARED ? JSON.parse(JSON.stringify(value)) : value;
}
