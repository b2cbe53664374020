/**
 * Version 2 of the Registry Utility, whose templates have no public names: recorded instructions and allocations, with the
 * names of a package that nobody knows and the Utility's parties, are served by their views.
 */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/util/json.js";
import { Decoder } from "../../src/ledger/decode.js";
import { parseSnapshot } from "../../src/ledger/file/snapshot.js";
import { eventFormat, KnownFilters } from "../../src/ledger/participant/client.js";
import { ask, type TestRequest } from "../../src/testing/answer.js";
import { element, parties, payload } from "../fixtures/elements.js";
import { executorOn, storeOf, utility } from "../fixtures/in-memory.js";
import { read } from "./recordings.js";

interface Created extends JsonObject {
  readonly contractId: string;
  readonly templateId: string;
  readonly createArgument: JsonObject;
  readonly interfaceViews: (JsonObject & { readonly interfaceId: string })[];
}
const recording = read("interface-views-3.5.json") as {
  readonly testTokenV2: {
    readonly admin: string;
    readonly updates: { update: { Transaction?: { value: { events: { CreatedEvent?: Created }[] } } } }[];
  };
  readonly utility: { readonly active: JsonObject[] };
};
const { admin, updates } = recording.testTokenV2;
const { operator, provider } = parties;
const created = updates.flatMap(({ update }) =>
  (update.Transaction?.value.events ?? []).flatMap(({ CreatedEvent }) => CreatedEvent ?? []),
);

const NAMES = {
  packageName: "utility-registry-app-v0",
  templateId: "f0:Utility.Registry.App.V0.Model.Unnamed:Unnamed",
};
const INSTRUCTION_VIEW =
  "9818a0b5b827109de03a04c8f6151cde9d1e7fe5123dbb2dfeb0e52d7271287c:Splice.Api.Token.AllocationInstructionV2:AllocationInstruction";

/** A recorded contract, as one of a template without a public name. */
function renamed(one: Created, change: JsonObject = {}): JsonObject {
  const createArgument = { ...one.createArgument, operator, provider };
  const createdEvent = { ...one, createArgument, ...NAMES, ...change };
  return { contractEntry: { JsActiveContract: { createdEvent, synchronizerId: "sync-A", reassignmentCounter: 0 } } };
}

const ofTemplate = (entity: string): Created[] => created.filter(({ templateId }) => templateId.includes(`:${entity}`));
const last = (entity: string): Created => {
  const found = ofTemplate(entity).at(-1);
  if (found === undefined) throw new Error(entity);
  return found;
};
const [offer, allocation, funding] = ["TokenTransferOffer", "TokenAllocationV1", "TokenAllocationV2"].map(last) as [
  Created,
  Created,
  Created,
];
const party = (name: string): string => admin.replace("admin", name);
const viewOf = ({ interfaceViews }: Created, name: string): JsonObject =>
  interfaceViews.find(({ interfaceId }) => interfaceId.endsWith(name))?.["viewValue"] as JsonObject;
const [locked = ""] = viewOf(allocation, "AllocationV2:Allocation")["holdingCids"] as string[];
/** No instruction to allocate was recorded: the view of the standard, with the sides of the allocation. */
const pending: Created = {
  ...allocation,
  contractId: "00aa",
  interfaceViews: [
    {
      interfaceId: INSTRUCTION_VIEW,
      viewStatus: { code: 0 },
      viewValue: {
        allocation: viewOf(allocation, "AllocationV2:Allocation")["allocation"] ?? null,
        inputHoldingCids: [locked],
      },
    },
  ],
};

const service = payload.service({ registrar: admin });
const gold = { defaultIdentifier: { source: admin, id: "GOLD", scheme: "Internal" } };
const utilityContracts = [
  element("AllocationFactory", "factory", service),
  element("TransferRule", "rule", service),
  element("InstrumentConfiguration", "gold", payload.configuration("GOLD", { ...service, ...gold })),
  element("Holding", locked, payload.lockedHolding("alice", "GOLD", service)),
];

const on = (operation: TestRequest["operation"], contractId: string): TestRequest => ({
  operation,
  registrar: admin,
  contractId,
  version: "v2",
});
const settle = (...ids: readonly string[]): TestRequest => ({
  operation: "settlement-factory",
  registrar: admin,
  choiceArguments: {
    transferLegs: [{ sender: { owner: party("alice") }, receiver: { owner: party("bob") }, instrumentId: "GOLD" }],
    allocations: ids.map((allocationCid) => ({
      allocationCid,
      extraTransferLegSides: [],
      nextIterationFunding: { GOLD: "1.0" },
    })),
  },
});
interface Said {
  readonly keys: readonly string[];
  readonly disclosed: readonly string[];
}
async function answered(request: TestRequest, ...contracts: readonly JsonObject[]): Promise<Said> {
  const { choiceContext, ...answer } = await ask(utility, [...utilityContracts, ...contracts], request);
  const { choiceContextData, disclosedContracts } = (choiceContext ?? answer) as unknown as {
    readonly choiceContextData?: { readonly values: JsonObject };
    readonly disclosedContracts?: readonly { readonly contractId: string }[];
  };
  return {
    keys: Object.keys(choiceContextData?.values ?? {}).map((key) => key.replace("utility.digitalasset.com/", "")),
    disclosed: (disclosedContracts ?? []).map(({ contractId }) => contractId),
  };
}

describe("templates without a public name are served by their views", () => {
  test("every recorded offer and allocation is read", () => {
    const decoder = new Decoder(utility.templates);
    const [offers, allocations] = ["TokenTransferOffer", "TokenAllocation"].map((name) =>
      ofTemplate(name).map((one) => decoder.decode(renamed(one))),
    );
    expect([offers?.length, allocations?.length, decoder.foreign]).toEqual([61, 16, 0]);
    expect(allocations?.at(-1)).toMatchObject({
      fields: {
        registrar: admin,
        roles: { operator: [operator], provider: [provider], sender: [party("alice")] },
        refs: { locked: (viewOf(funding, "AllocationV2:Allocation")["holdingCids"] ?? []) as string[] },
        instruments: ["GOLD"],
      },
    });
  });

  test("transfers", async () => {
    const accepted = await answered(on("transfer-instruction/accept", offer.contractId), renamed(offer));
    expect(accepted).toEqual({
      keys: ["instrument-configuration", "sender-credentials", "receiver-credentials", "transfer-rule"],
      disclosed: ["gold", "rule"],
    });
    const withdrawn = await answered(on("transfer-instruction/withdraw", offer.contractId), renamed(offer));
    expect(withdrawn).toEqual({ keys: [], disclosed: [] });
  });

  test("allocations disclose the holdings that they lock", async () => {
    for (const choice of ["allocation/cancel", "allocation/withdraw"] as const)
      // oxlint-disable-next-line no-await-in-loop -- two
      expect(await answered(on(choice, allocation.contractId), renamed(allocation))).toEqual({
        keys: [],
        disclosed: [locked],
      });
  });

  test("instructions to allocate that are pending", async () => {
    const accepted = await answered(on("allocation-instruction/accept", "00aa"), renamed(pending));
    expect(accepted).toEqual({
      keys: ["instrument-configuration", "sender-credentials"],
      disclosed: ["gold", locked],
    });
    const withdrawn = await answered(on("allocation-instruction/withdraw", "00aa"), renamed(pending));
    expect(withdrawn).toEqual({ keys: [], disclosed: [locked] });
  });

  test("a settlement has the legs, those whose allocations it settles, and what these lock", async () => {
    const settled = await ask(utility, [...utilityContracts, renamed(allocation)], settle(allocation.contractId));
    const { choiceContextData, disclosedContracts } = settled["choiceContext"] as {
      choiceContextData: { values: Record<string, { value: JsonObject }> };
      disclosedContracts: { contractId: string }[];
    };
    const holders = choiceContextData.values["utility.digitalasset.com/holder-credentials"]?.value ?? {};
    expect(Object.keys(holders)).toEqual([party("alice"), party("bob")]);
    expect(disclosedContracts.map(({ contractId }) => contractId)).toEqual([
      "rule",
      "gold",
      "factory",
      allocation.contractId,
      locked,
    ]);
  });

  test("without operator and provider any group of the registrar counts", async () => {
    const { createArgument } = offer;
    const accepted = await answered(
      on("transfer-instruction/accept", offer.contractId),
      renamed(offer, { createArgument }),
    );
    expect(accepted.disclosed).toEqual(["gold", "rule"]);
  });
});

describe("what the registrar has not signed is neither served nor disclosed", () => {
  const forged = { signatories: ["mallory::1220"], witnessParties: [admin, "mallory::1220"] };
  const unseen = { witnessParties: [party("alice")] };

  test.each([
    ["transfer-instruction/accept", offer],
    ["allocation/withdraw", allocation],
    ["allocation-instruction/accept", pending],
  ] as const)("%s", async (operation, one) => {
    const status = operation.startsWith("allocation-instruction") ? 400 : 404;
    for (const change of [forged, unseen])
      // oxlint-disable-next-line no-await-in-loop -- two
      await expect(answered(on(operation, one.contractId), renamed(one, change))).rejects.toMatchObject({ status });
  });

  test("an allocation of a settlement", async () => {
    const settled = await answered(settle(allocation.contractId), renamed(allocation, forged));
    expect(settled.disclosed).toEqual(["rule", "gold", "factory"]);
  });
});

test("an instruction to allocate that the store does not have yet is waited for; then it is none", async () => {
  const store = await storeOf(utilityContracts, utility);
  const query = { registrar: admin, contractId: "00bb", meta: {} };
  const asked = async () =>
    executorOn(store).execute((registry, context) =>
      registry.choiceContext(context, "allocation-instruction/accept", query),
    );
  await expect(asked).rejects.toThrow("00bb is not an allocation instruction that is pending");
  expect(() =>
    store.read((view) =>
      utility.choiceContext(
        { view, now: 0, hasReachedEnd: false, onLedger: () => undefined, mayChangeAt: () => undefined },
        "allocation-instruction/accept",
        query,
      ),
    ),
  ).toThrow(/00bb of registrar .* is not known here/);
});

describe("templates with names are read by these", () => {
  const byName = utility.templates.filter(({ packageName }) => packageName !== "");

  test("of the 123 contracts of version 1 what is read is the same, whatever their views", () => {
    const active = [
      ...recording.utility.active,
      ...recording.utility.active.map(
        (one) =>
          JSON.parse(JSON.stringify(one).replaceAll(/"[0-9a-f]{64}:Splice\.Api/g, '"f0:Splice.Api')) as JsonObject,
      ),
    ];
    const decode = (templates: typeof utility.templates) => {
      const decoder = new Decoder(templates, { keepsOptional: true });
      return active.map((one) => decoder.decode(one));
    };
    const found = decode(utility.templates);
    expect(found).toEqual(decode(byName));
    expect(found.filter((one) => one !== undefined).length).toBe(2 * 123);
  });

  test("a stream asks for each interface once, and without their packages for the same as without them", () => {
    const filters = new KnownFilters(utility.templates);
    const interfaces = filters.present.filter(({ isInterface }) => isInterface);
    expect(interfaces.map(({ qualifiedName }) => qualifiedName)).toEqual([
      "Splice.Api.Token.TransferInstructionV2:TransferInstruction",
      "Splice.Api.Token.AllocationV2:Allocation",
      "Splice.Api.Token.AllocationInstructionV2:AllocationInstruction",
    ]);
    expect(filters.leaveOut(interfaces.map(({ packageName }) => packageName))).toBe(true);
    const named = new KnownFilters(byName).present;
    expect(eventFormat([operator], filters.present, true)).toEqual(eventFormat([operator], named, true));
    // They are looked for.
    expect(filters.missing.length).toBe(3);
  });

  test("a preapproval is trusted as its package is: one that somebody names alike in a package of their own is none", () => {
    const decode = (packageName?: string) => {
      const options = packageName === undefined ? {} : { packageName };
      const preapproval = element("TransferPreapproval", "preapproval", payload.preapproval("bob", []), options);
      return new Decoder(utility.templates).decode(preapproval)?.contractId;
    };
    expect([decode(), decode("mallory-app-v0")]).toEqual(["preapproval", undefined]);
  });

  test("a snapshot file needs no views", async () => {
    const text = utilityContracts.map((one) => JSON.stringify(one)).join("\n");
    const { contracts, problems } = await parseSnapshot([text], new Decoder(utility.templates));
    expect([contracts.length, problems]).toEqual([4, []]);
  });
});
