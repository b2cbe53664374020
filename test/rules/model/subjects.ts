/** Registries under test, each with the settings by which the model describes it. */
import { utilityRegistry } from "../../../src/registry/utility/index.js";
import { compileContexts } from "../../../src/registry/utility/contexts.js";
import { NOW } from "./names.js";
import { packageVersions } from "./random-ledger.js";
import type { Subject } from "./run-script.js";
import type { Settings } from "./settings.js";

const byDefault: Settings = {
  now: NOW,
  // At least the worst case that has to be supported, and small enough to be exceeded.
  limits: { legs: 60, allocations: 50, instruments: 25, accounts: 60, parties: 100 },
  credentialsRequired: false,
  rewards: "off",
  packageVersions: new Map(),
  blocklist: false,
  rejectsUnknown: false,
};

/** `file` is the parsed content of the operator's contexts file. */
function subject(settings: Partial<Settings>, file?: object): Subject {
  const all = { ...byDefault, ...settings };
  return {
    registry: utilityRegistry({
      settlementLimits: all.limits,
      rejectsUnknownAllocations: all.rejectsUnknown,
      contexts: compileContexts(file),
    }),
    settings: all,
  };
}

/** The operations on which a blocklist counts: all but reject, withdraw and cancel. */
const blocklistOperations = [
  "transfer-factory/*",
  "allocation-factory",
  "settlement-factory",
  "burn-mint-factory",
  "transfer-instruction/accept",
  "allocation/execute-transfer",
  ...["mint-offer", "mint-request", "burn-offer", "burn-request"].flatMap((name) => [
    `${name}/create`,
    `${name}/accept`,
  ]),
];
const blocklist = {
  operations: blocklistOperations,
  add: [{ entry: "transfer-rule", keys: ["blocklist"], when: "checkBlocklist" }],
};

/** All but one, which counts as current although it is the oldest. */
const listed = new Map([...packageVersions].filter(([id]) => id !== "app-v0-0.5.0"));

export const subjects: Readonly<Record<string, Subject>> = {
  "by default": subject({}),
  "with required credentials, rewards and a blocklist": subject(
    { credentialsRequired: true, rewards: "on", blocklist: true, rejectsUnknown: true },
    { changes: [{ credentials: "required", rewards: true }, blocklist] },
  ),
  "with versions of packages, and rewards for older ones": subject(
    { rewards: { appPackageBefore: "0.9.2" }, packageVersions: listed },
    {
      packages: Object.fromEntries(listed),
      changes: [{ when: { package: "utility-registry-app-v0", before: "0.9.2" }, rewards: true }],
    },
  ),
};
