import type { Contract } from "../../domain/contract.js";

/** Longer texts are contract ids and the like, which stand in one contract alone; shorter ones may be shared by many. */
const LONGEST_SHARED = 128;

/**
 * The same contract in memory that was just taken. Contracts of a snapshot lie
 * among gigabytes of blobs and payloads, each in memory pages of its own, and
 * those that are asked for are few: made anew when they are first asked for they
 * lie next to one another, which the processor finds at once. Its fields are
 * named for the sake of speed; see ledger/decode.ts.
 */
export function compactClone(contract: Contract): Contract {
  return {
    fields: cloneFields(contract.fields),
    template: contract.template,
    synchronizerId: contract.synchronizerId,
    slots: [],
    indexKeys: contract.indexKeys,
    supply: contract.supply,
    contractId: contract.contractId,
    templateId: contract.templateId,
    payload: contract.payload,
    createdEventBlob: contract.createdEventBlob,
    createdAt: contract.createdAt,
    createdMicros: contract.createdMicros,
    reassignmentCounter: contract.reassignmentCounter,
  };
}

function cloneFields(fields: unknown): unknown {
  if (typeof fields !== "object" || fields === null || Object.getPrototypeOf(fields) !== Object.prototype)
    return fields;
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, textAnew(value)]));
}

/** JSON keeps every text, whatever characters it has, and makes it one of its own. */
function textAnew(value: unknown): unknown {
  return typeof value === "string" && value.length > LONGEST_SHARED ? JSON.parse(JSON.stringify(value)) : value;
}
