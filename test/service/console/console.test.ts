/** What the console shows of the demo registry, over every protocol. */
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { contractId, party, synchronizer } from "../../../demo/element.js";
import { callNamed } from "../../fixtures/calls/index.js";
import { type ServiceWithConsole, serviceWithConsole } from "../../fixtures/observed-service.js";
import { ownModule } from "../../fixtures/own-registry.js";
import { until } from "../../fixtures/wait.js";
import { nameOf, protocolClients } from "../../telemetry/protocol-clients.js";
import { ask, askEverywhere } from "./clients.js";

const [acme, alice, bob, dave] = ["acme-registrar", "alice", "bob", "dave"].map(party);
const TRANSFER = "offledger.transfer_instruction.v1.TransferInstructionService";

let service: ServiceWithConsole;
beforeAll(async () => {
  service = await serviceWithConsole();
});
afterAll(() => service.close());

const get = (...args: Parameters<typeof ask> extends [string, ...infer A] ? A : never): Promise<JsonObject> =>
  ask(service.consoleUrl, ...args);

interface Described {
  readonly contract: { readonly contractId: string };
}
const ids = (list: unknown) => (list as Described[]).map(({ contract }) => contract.contractId);
const idsOf = (...labels: readonly string[]) => labels.map(contractId).toSorted();

test("the inventory has registrars, instruments, services, counts and warnings", async () => {
  await until("the warnings are found", async () => (await get("getInventory"))["checked"] === true);
  const inventory = await get("getInventory");
  expect(inventory).toMatchObject({ omitted: 0, source: expect.stringContaining("registry.ndjson") });
  const registrars = inventory["registrars"] as unknown as { party: string; instruments: { id: string }[] }[];
  expect(registrars.map((one) => [one.party, one.instruments.map(({ id }) => id)])).toEqual([
    [acme, ["ACME-BOND", "ACME-EUR"]],
    [party("nordic-registrar"), ["NOK-CASH"]],
  ]);
  expect(registrars[0]?.instruments).toMatchObject([
    {
      otherIds: [],
      holderRequirements: [{ claims: [{ property: expect.any(String) }] }],
      issuerRequirements: [{ claims: [{ property: expect.any(String) }] }],
      configuration: { template: "Utility.Registry.V0.Configuration.Instrument:InstrumentConfiguration", synchronizer },
    },
    { otherIds: ["EU000A1ACME7", "8ZK4XQ2LM"], holderRequirements: [], issuerRequirements: [] },
  ]);
  expect(registrars[0]).toMatchObject({
    services: [{ name: "AllocationFactory" }, { name: "RegistrarService" }, { name: "TransferRule" }],
  });
  const template = "Utility.Registry.App.V0.Model.Transfer:TransferOffer";
  expect(inventory["templates"]).toContainEqual(expect.objectContaining({ template, count: "4" }));
  const moving = { kind: "instruction-in-reassignment", contractId: contractId("offer moving"), status: 409 };
  expect(inventory["warnings"]).toContainEqual(expect.objectContaining(moving));
});

test("freshness ends with the present", async () => {
  const { notReadyReason, points } = await get("getFreshness");
  expect(notReadyReason).toBe("");
  expect((points as unknown as object[]).at(-1)).toMatchObject({ age: "0s", offset: expect.stringMatching(/^\d+$/) });
});

const requestIdFor = (protocol: string) => `of-${protocol}`;

describe("requests", () => {
  const missing = callNamed("a transfer instruction that does not exist");
  beforeAll(async () => {
    for (const { protocol, send } of Object.values(protocolClients)) {
      await send(service.url, missing, { "x-request-id": requestIdFor(protocol) });
      await send(service.url, callNamed("v1 instruments"));
    }
    await until("the refusals are kept", async () => {
      const { refusals } = await get("listRefusals");
      return (refusals as unknown[]).length === Object.keys(protocolClients).length;
    });
  });

  test("are counted over all protocols, with refusals by code", async () => {
    const { operations, since } = await get("getRequests");
    expect(since).toBe("2026-06-01T00:00:00Z");
    const count = Object.keys(protocolClients).length;
    const refused = {
      operation: nameOf(missing),
      requests: String(count),
      refusals: { "instruction-unknown": String(count) },
    };
    expect(operations).toContainEqual(refused);
    const answered = { operation: nameOf(callNamed("v1 instruments")), requests: String(count), refusals: {} };
    expect(operations).toContainEqual(answered);
  });

  test("that were refused are listed, newest first, and filtered by code", async () => {
    const { refusals } = await get("listRefusals");
    const listed = refusals as unknown as { requestId: string; protocol: string }[];
    for (const { requestId, protocol } of listed) expect(requestId).toBe(requestIdFor(protocol));
    expect(listed[0]).toMatchObject({
      protocol: "grpc-web",
      operation: nameOf(missing),
      status: "not_found",
      error: expect.stringContaining("is not known here"),
      causes: [{ code: "instruction-unknown" }],
      request: { registrarParty: acme, transferInstructionId: contractId("no such offer") },
    });
    expect(await get("listRefusals", { code: "rule-missing" })).toEqual({ refusals: [] });
    expect((await get("listRefusals", { code: "instruction-unknown" }))["refusals"]).toHaveLength(listed.length);
  });
});

describe("a party", () => {
  test("has its credentials, preapprovals and instructions", async () => {
    const found = await get("getParty", { party: bob ?? "" });
    expect(found["incomplete"]).toBe(false);
    expect(found["credentials"]).toMatchObject([
      { contract: { synchronizer }, claims: [expect.anything()], validUntil: "2036-01-01T00:00:00Z" },
    ]);
    expect(found["preapprovals"]).toMatchObject([{ registrar: acme, instruments: ["ACME-EUR"] }]);
    expect(ids(found["instructions"]).toSorted()).toEqual(
      idsOf(
        "offer bond to bob",
        "offer cash to carol",
        "offer moving",
        "allocation bond leg",
        "allocation euro leg",
        "burn offer",
      ),
    );
  });

  test("has what each instruction lacks, and the request that completes it", async () => {
    const found = await get("getParty", { party: alice ?? "" });
    const instructions = found["instructions"] as unknown as (Described & JsonObject)[];
    const byId = (label: string) => instructions.find(({ contract }) => contract.contractId === contractId(label));
    expect(byId("offer bond to bob")).toMatchObject({
      registrar: acme,
      instruments: ["ACME-BOND"],
      sender: alice,
      receiver: bob,
      causes: [],
      completion: {
        operation: `${TRANSFER}/GetTransferInstructionAcceptContext`,
        request: { registrarParty: acme, transferInstructionId: contractId("offer bond to bob") },
      },
    });
    // Dave's credential has expired.
    expect(byId("offer bond to dave")?.["causes"]).toMatchObject([{ code: "credential-missing", party: dave }]);
    expect(byId("offer moving")?.["causes"]).toMatchObject([{ contractId: contractId("offer moving") }]);
    expect(byId("mint request")).toMatchObject({
      completion: {
        operation: "offledger.mint.v0.MintService/GetMintRequestAcceptContext",
        request: { mintRequestId: contractId("mint request") },
      },
    });
    expect(byId("allocation bond leg")).toMatchObject({
      completion: { operation: "offledger.allocation.v1.AllocationService/GetAllocationTransferContext" },
    });
  });

  test("that is unknown has nothing", async () => {
    const nothing = { credentials: [], preapprovals: [], instructions: [], incomplete: false };
    expect(await get("getParty", { party: "nobody::1220" })).toEqual(nothing);
  });

  test("every request of a completion is answered, or refused for the causes listed", async () => {
    const { instructions } = await get("getParty", { party: bob ?? "" });
    const listed = instructions as unknown as {
      causes: { code: string }[];
      completion: { operation: string; request: object };
    }[];
    expect(listed.length).toBeGreaterThan(3);
    const refused: [codes: string[], status: number][] = [];
    for (const { causes, completion } of listed) {
      const init = { method: "POST", headers: { "content-type": "application/json" } };
      const body = JSON.stringify(completion.request);
      const response = await fetch(`${service.url}/${completion.operation}`, { ...init, body });
      await response.text();
      if (causes.length > 0 || !response.ok) refused.push([causes.map(({ code }) => code), response.status]);
    }
    expect(refused).toEqual([[["instruction-moving"], 409]]);
  });
});

describe("a contract", () => {
  test("has its payload and the choices on it", async () => {
    const found = await get("getContract", { contractId: contractId("burn request") });
    expect(found).toMatchObject({
      archived: false,
      contract: { template: "Utility.Registry.App.V0.Model.Burn:BurnRequest", createdAt: expect.any(String) },
      payload: { burn: { holder: alice }, lockedHoldingCid: contractId("holding redemption") },
    });
    const calls = found["calls"] as unknown as { operation: string; request: object }[];
    expect(calls.map(({ operation }) => operation)).toEqual(
      ["Accept", "Reject", "Cancel"].map((choice) => `offledger.burn.v0.BurnService/GetBurnRequest${choice}Context`),
    );
    expect(calls[0]?.request).toEqual({ burnRequestId: contractId("burn request") });
  });

  test("that is no instruction has no choices, and one that is unknown nothing", async () => {
    const credential = ids((await get("getParty", { party: bob ?? "" }))["credentials"])[0] ?? "";
    expect(await get("getContract", { contractId: credential })).toMatchObject({ calls: [], payload: { holder: bob } });
    expect(await get("getContract", { contractId: "00ab" })).toMatchObject({ archived: false, calls: [] });
    expect(await get("getContract", { contractId: "00ab" })).not.toHaveProperty("payload");
  });
});

test("every protocol answers the same", async () => {
  await until("the warnings are found", async () => (await get("getInventory"))["checked"] === true);
  const requests = [
    ["getInventory", {}],
    ["getParty", { party: alice ?? "" }],
    ["getContract", { contractId: contractId("offer bond to bob") }],
    ["getRequests", {}],
    ["listRefusals", {}],
  ] as const;
  for (const [rpc, request] of requests) {
    const [rest, ...others] = await askEverywhere(service.consoleUrl, rpc, request);
    expect(JSON.stringify(rest).length).toBeGreaterThan(100);
    for (const other of others) expect(other).toEqual(rest);
  }
});

test("a registry without a lookup has its inventory and contracts", async () => {
  const own = await serviceWithConsole({ registry: ownModule });
  try {
    const inventory = await ask(own.consoleUrl, "getInventory");
    expect(inventory["checked"]).toBe(true);
    expect(inventory["registrars"]).not.toEqual([]);
    const found = await ask(own.consoleUrl, "getParty", { party: alice ?? "" });
    expect(found).toMatchObject({ credentials: [], instructions: [], incomplete: false });
  } finally {
    await own.close();
  }
});
