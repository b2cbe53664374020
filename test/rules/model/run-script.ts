/** Registries for random scripts, and what a script does to a store. */
import type { Change, CountedOnly, StoredContract } from "../../../src/domain/contract.js";
import type { Decoder } from "../../../src/ledger/decode.js";
import type { Registry } from "../../../src/registry/sdk/registry.js";
import { compileContexts } from "../../../src/registry/utility/contexts.js";
import { utilityRegistry } from "../../../src/registry/utility/index.js";
import { requireCredentials, rewardChanges } from "../../fixtures/contexts.js";
import type { LedgerContract } from "./ledger.js";
import { elementOf, type LedgerChange, packageVersions } from "./random-ledger.js";

export interface Subject {
  readonly registry: Registry;
}

/** At least the worst case that has to be supported, and small enough to be exceeded. */
const settlementLimits = { legs: 60, allocations: 50, instruments: 25, accounts: 60, parties: 100 };
const subject = (file: object, rejectsUnknownAllocations = false): Subject => ({
  registry: utilityRegistry({ settlementLimits, rejectsUnknownAllocations, contexts: compileContexts(file) }),
});

/** The operations on which a blocklist counts: all but reject, withdraw and cancel. */
const blocklistOperations = [
  "transfer-factory/offer",
  "transfer-factory/direct",
  "allocation-factory",
  "settlement-factory",
  "burn-mint-factory",
  "allocation/execute-transfer",
  "*/create",
  "*/accept",
];
const line = { entry: "transfer-rule", key: "blocklist", if: "check-blocklist" };
const blocklist = [
  { on: blocklistOperations, remove: ["no-blocklist"], add: [{ ...line, missing: "omit" }] },
  // Where everything may be missing it may be too.
  { on: ["transfer-factory/self"], remove: ["no-blocklist"], add: [line] },
];

/** All but one, which counts as current although it is the oldest. */
const listed = new Map([...packageVersions].filter(([id]) => id !== "app-v0-0.5.0"));

export const subjects: Readonly<Record<string, Subject>> = {
  "by default": subject({}),
  "with required credentials, rewards and a blocklist": subject(
    { changes: [...rewardChanges(), requireCredentials, ...blocklist] },
    true,
  ),
  "with versions of packages, and rewards for older ones": subject({
    packages: Object.fromEntries(listed),
    changes: rewardChanges({ if: { package: "utility-registry-app-v0", before: "0.9.2" } }),
  }),
};

export const decode = (decoder: Decoder, contract: LedgerContract): StoredContract | CountedOnly | undefined =>
  decoder.decode(elementOf(contract))?.contract;

/** A contract that no rule needs is no change. */
export function storeChange(decoder: Decoder, change: LedgerChange): Change[] {
  if (!("active" in change)) return [change];
  const active = decode(decoder, change.active);
  return active === undefined ? [] : [{ active }];
}
