import type { Contract } from "../../domain/contract.js";

/** Longer strings, such as contract ids, belong to one contract; shorter ones may be shared by many. */
const MAX_SHARED_LENGTH = 128;

/**
 * Copies a contract to new memory: the few that are read then lie together, which saves cache and TLB misses. Gains 7 %
 * of an accept with 100,000 contracts; can go when contracts are stored by column.
 */
export function compactClone(contract: Contract): Contract {
  // The order of the fields keeps one hidden class; see ledger/decode.ts.
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
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, cloneLongString(value)]));
}

/** A JSON round trip keeps every string and allocates a new one. */
function cloneLongString(value: unknown): unknown {
  return typeof value === "string" && value.length > MAX_SHARED_LENGTH ? JSON.parse(JSON.stringify(value)) : value;
}
