/**
 * A request of every operation, for the demo registry that the service serves by default: "Try it out" at /docs
 * succeeds as it opens. Contract ids are checked against the snapshot of the demo.
 */
import { readFileSync } from "node:fs";
import { contractId, party } from "../../demo/element.js";
import type { JsonObject, JsonValue } from "../../src/util/json.js";

export interface Example {
  /** By parameter name. */
  readonly parameters: Readonly<Record<string, JsonValue>>;
  readonly body: JsonObject | undefined;
}

const acme = party("acme-registrar");
const nordic = party("nordic-registrar");
const alice = party("alice");
const bob = party("bob");
const carol = party("carol");

const meta: JsonObject = { values: {} };
const extraArgs: JsonObject = { context: {}, meta: {} };
const account = (owner: string): JsonObject => ({ owner, provider: null, id: "" });
const bond: JsonObject = { admin: acme, id: "ACME-BOND" };
const cash: JsonObject = { admin: nordic, id: "NOK-CASH" };
const requestedAt = "2026-01-05T09:00:00Z";
const executeBefore = "2036-01-05T09:00:00Z";

const snapshot = readFileSync(new URL("../../demo/registry.ndjson", import.meta.url), "utf8");

/** The id of a contract of the demo. Throws if the snapshot does not have it. */
function demoContract(label: string): string {
  const id = contractId(label);
  if (!snapshot.includes(`"contractId":"${id}"`)) throw new Error(`demo/registry.ndjson has no contract "${label}"`);
  return id;
}

const parameters: Readonly<Record<string, JsonValue>> = {
  registrarParty: acme,
  instrumentId: "ACME-BOND",
  pageSize: 25,
  page: 0,
  size: 25,
  transferInstructionId: demoContract("offer bond to bob"),
  // The demo has none: every id gets the error that says so.
  allocationInstructionId: contractId("allocation instruction"),
  allocationId: demoContract("allocation bond leg"),
  mintOfferId: demoContract("mint offer"),
  mintRequestId: demoContract("mint request"),
  burnOfferId: demoContract("burn offer"),
  burnRequestId: demoContract("burn request"),
};

/** Alice transfers a bond to bob. */
const terms: JsonObject = {
  amount: "10.0000000000",
  instrumentId: bond,
  requestedAt,
  executeBefore,
  inputHoldingCids: [],
  meta,
};
const transferV1: JsonObject = {
  expectedAdmin: acme,
  transfer: { sender: alice, receiver: bob, ...terms },
  extraArgs,
};
const transferV2: JsonObject = {
  transfer: { sender: account(alice), receiver: account(bob), ...terms },
  actors: [alice],
  extraArgs,
};

/** Alice allocates bonds to a trade with bob, which carol executes. */
const allocateV1: JsonObject = {
  expectedAdmin: acme,
  allocation: {
    settlement: {
      executor: carol,
      settlementRef: { id: "trade 18", cid: null },
      requestedAt,
      allocateBefore: executeBefore,
      settleBefore: executeBefore,
      meta,
    },
    transferLegId: "bond leg",
    transferLeg: { sender: alice, receiver: bob, amount: "40.0000000000", instrumentId: bond, meta },
  },
  requestedAt,
  inputHoldingCids: [],
  extraArgs,
};
const allocateV2: JsonObject = {
  settlement: { executors: [carol], id: "trade 18", cid: null, meta },
  allocation: {
    admin: acme,
    authorizer: account(alice),
    transferLegSides: [
      {
        transferLegId: "bond leg",
        side: "SenderSide",
        otherside: account(bob),
        amount: "40.0000000000",
        instrumentId: "ACME-BOND",
        meta,
      },
    ],
    settlementDeadline: executeBefore,
    nextIterationFunding: null,
    committed: false,
    meta,
  },
  requestedAt,
  inputHoldingCids: [],
  actors: [alice],
  extraArgs,
};

const leg = (transferLegId: string, sender: string, receiver: string, amount: string, instrumentId: string) => ({
  transferLegId,
  sender: account(sender),
  receiver: account(receiver),
  amount,
  instrumentId,
  meta,
});
const allocated = (label: string): JsonObject => ({
  allocationCid: demoContract(label),
  extraTransferLegSides: [],
  nextIterationFunding: null,
});

/** Carol settles alice's bonds against bob's euros. */
const settleBatch: JsonObject = {
  settlement: { executors: [carol], id: "trade 17", cid: null, meta },
  transferLegs: [
    leg("bond leg", alice, bob, "40.0000000000", "ACME-BOND"),
    leg("euro leg", bob, alice, "39500.0000000000", "ACME-EUR"),
  ],
  allocations: [allocated("allocation bond leg"), allocated("allocation euro leg")],
  actors: [carol],
  extraArgs,
};

const factory = (choiceArguments: JsonObject): JsonObject => ({ choiceArguments, excludeDebugFields: false });

/** Bodies by operation id. */
const bodies: Readonly<Record<string, JsonObject>> = {
  getTransferFactory: factory(transferV1),
  getTransferFactoryV2: factory(transferV2),
  getAllocationFactory: factory(allocateV1),
  getAllocationFactoryV2: factory(allocateV2),
  getSettlementFactory: factory(settleBatch),
  getInstrumentConfiguration: {
    registrar: acme,
    instrumentIdentifier: { source: acme, id: "ACME-BOND", scheme: "RegistrarInternalScheme" },
  },
  getMintOfferCreateContext: { holder: carol, instrumentId: cash },
  getMintRequestCreateContext: { holder: alice, instrumentId: bond },
  getBurnOfferCreateContext: { holder: bob, instrumentId: cash },
  getBurnRequestCreateContext: { holder: alice, holdingContractIds: [], instrumentId: bond },
  getBurnMintFactory: {
    instrumentId: bond,
    inputHoldingCids: [],
    outputs: [{ owner: alice, amount: "1.0000000000" }],
  },
  verifyTransferProof: {
    // A file has no updates: only a service on a participant can find one.
    updateId: `1220${"0".repeat(64)}`,
    transfer: {
      sender: alice,
      receiver: bob,
      amount: "100.0000000000",
      instrumentId: bond,
      requestedAt,
      executeBefore,
      inputHoldingCids: [demoContract("holding bond to bob")],
      meta,
    },
  },
};

/** The body of choices on a contract that the path names. */
const choice: JsonObject = { meta: {}, excludeDebugFields: false };

/** Throws if an operation with a body needs an example of its own and has none. */
export function exampleOf(operationId: string, hasBody: boolean): Example {
  const body = bodies[operationId] ?? (/Context(?:V2)?$/.test(operationId) ? choice : undefined);
  if (hasBody && body === undefined) throw new Error(`${operationId} needs an example in examples.ts`);
  return { parameters, body };
}
