/** What the console shows of the demo registry, on the operator's port. */
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { contractId, party, synchronizer } from "../../demo/element.js";
import { partyMessage, refusalsMessage, registrarMessages } from "../../src/service/console.js";
import { PartyResults } from "../../src/registry/party-search.js";
import { element, payload } from "../fixtures/elements.js";
import { temporaryFile } from "../fixtures/files.js";
import { contractsOf } from "../fixtures/in-memory.js";
import { callNamed } from "../fixtures/calls/index.js";
import { ownModule } from "../fixtures/own-registry.js";
import { until } from "../fixtures/wait.js";
import { type ServedConsole, serveConsole } from "../console/console-in-browser.js";
import { nameOf, protocolClients } from "../telemetry/protocol-clients.js";
import { read } from "../fidelity/recordings.js";
import { scrape, start, valueOf } from "../telemetry/starting.js";

const [acme, alice, bob, dave] = ["acme-registrar", "alice", "bob", "dave"].map(party) as [
  string,
  string,
  string,
  string,
];
const TRANSFER = "offledger.transfer_instruction.v1.TransferInstructionService";
const PATH = "/api/offledger/v1/console";

const begun = Date.now();
let service: ServedConsole;
beforeAll(async () => {
  service = await serveConsole();
});
afterAll(() => service.close());

/** Over REST. Throws if it fails. */
async function get(path: string, url = service.url): Promise<JsonObject> {
  const response = await fetch(url + PATH + path);
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status} ${text}`);
  return JSON.parse(text) as JsonObject;
}
const getParty = (name: string) => get(`/parties/${encodeURIComponent(name)}`);
const getContract = (id: string) => get(`/contracts/${id}`);
const isChecked = async () => (await get("/inventory"))["checked"] === true;

interface Described extends JsonObject {
  readonly contract: { readonly contractId: string };
}
const ids = (list: unknown) => (list as Described[]).map(({ contract }) => contract.contractId);
const idsOf = (...labels: readonly string[]) => labels.map(contractId).toSorted();

test("the inventory has registrars, instruments, services, counts and warnings", async () => {
  await until("the warnings are found", isChecked);
  const inventory = await get("/inventory");
  expect(inventory).toMatchObject({ omitted: 0, source: expect.stringContaining("registry.ndjson") });
  const registrars = inventory["registrars"] as unknown as { party: string; instruments: { id: string }[] }[];
  expect(registrars.map((one) => [one.party, one.instruments.map(({ id }) => id)])).toEqual([
    [acme, ["ACME-BOND", "ACME-EUR"]],
    [party("nordic-registrar"), ["NOK-CASH"]],
  ]);
  const claims = [{ claims: [{ property: expect.any(String) }] }];
  const template = "Utility.Registry.V0.Configuration.Instrument:InstrumentConfiguration";
  expect(registrars[0]?.instruments).toMatchObject([
    { otherIds: [], holderRequirements: claims, issuerRequirements: claims, configuration: { template, synchronizer } },
    { otherIds: ["EU000A1ACME7", "8ZK4XQ2LM"], holderRequirements: [], issuerRequirements: [] },
  ]);
  const services = ["AllocationFactory", "RegistrarService", "TransferRule"].map((name) => ({ name }));
  expect(registrars[0]).toMatchObject({ services });
  const offers = { template: "Utility.Registry.App.V0.Model.Transfer:TransferOffer", count: "4" };
  expect(inventory["templates"]).toContainEqual(expect.objectContaining(offers));
  const moving = { kind: "instruction-moving", contractId: contractId("offer moving"), status: 409 };
  expect(inventory["warnings"]).toContainEqual(expect.objectContaining(moving));
});

test("freshness ends with the present", async () => {
  const { notReadyReason, points } = await get("/freshness");
  expect(notReadyReason).toBe("");
  expect((points as unknown as object[]).at(-1)).toMatchObject({ age: "0s", offset: expect.stringMatching(/^\d+$/) });
});

describe("requests", () => {
  const missing = callNamed("a transfer instruction that does not exist");
  const clients = Object.values(protocolClients);
  const count = String(clients.length);
  beforeAll(async () => {
    for (const { protocol, send } of clients) {
      await send(service.publicUrl, missing, { "x-request-id": `of-${protocol}` });
      await send(service.publicUrl, callNamed("v1 instruments"));
    }
    await until("the refusals are kept", async () => {
      const { refusals } = await get("/refusals");
      return (refusals as unknown[]).length === clients.length;
    });
  });

  test("are counted over all protocols, with refusals by code; not those of operators", async () => {
    const { operations, since } = await get("/requests");
    expect(Date.parse(since as string)).toBeGreaterThanOrEqual(begun);
    expect(operations).toEqual([
      { operation: nameOf(callNamed("v1 instruments")), requests: count, refusals: {} },
      { operation: nameOf(missing), requests: count, refusals: { "instruction-unknown": count } },
    ]);
  });

  test("that were refused are listed, newest first, and filtered by code", async () => {
    const { refusals } = await get("/refusals");
    const listed = refusals as unknown as { requestId: string; protocol: string }[];
    for (const { requestId, protocol } of listed) expect(requestId).toBe(`of-${protocol}`);
    expect(listed[0]).toMatchObject({
      protocol: "grpc-web",
      operation: nameOf(missing),
      status: "not_found",
      error: expect.stringContaining("is not known here"),
      causes: [{ code: "instruction-unknown" }],
      request: { registrarParty: acme, transferInstructionId: contractId("no such offer") },
    });
    expect(await get("/refusals?code=rule-missing")).toEqual({ refusals: [] });
    expect((await get("/refusals?code=instruction-unknown"))["refusals"]).toHaveLength(listed.length);
  });
});

describe("a party", () => {
  test("has its credentials, preapprovals and instructions", async () => {
    const found = await getParty(bob);
    expect(found["incomplete"]).toBe(false);
    expect(found["credentials"]).toMatchObject([
      { contract: { synchronizer }, claims: [expect.anything()], validUntil: "2036-01-01T00:00:00Z" },
    ]);
    expect(found["preapprovals"]).toMatchObject([{ registrar: acme, instruments: ["ACME-EUR"] }]);
    const offers = ["offer bond to bob", "offer cash to carol", "offer moving"];
    const others = ["allocation bond leg", "allocation euro leg", "burn offer"];
    expect(ids(found["instructions"]).toSorted()).toEqual(idsOf(...offers, ...others));
    expect(await getParty("nobody::1220")).toEqual({
      credentials: [],
      preapprovals: [],
      instructions: [],
      incomplete: false,
    });
  });

  test.each(["nobody", "::1220", "nobody::", ":", "n".repeat(500)])("is no party of the ledger: %j", async (name) => {
    const response = await fetch(`${service.url}${PATH}/parties/${encodeURIComponent(name)}`);
    expect(response.status).toBe(400);
    const { error } = (await response.json()) as { error: string };
    expect(error).toMatch(/^party is ".*: a party id is hint::fingerprint$/);
    expect(error.length).toBeLessThan(150);
    expect(error).toContain(name.slice(0, 60));
  });

  test("has what each instruction lacks, and the request that completes it", async () => {
    const instructions = (await getParty(alice))["instructions"] as unknown as Described[];
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
    const minting = "offledger.mint.v0.MintService/GetMintRequestAcceptContext";
    const mints = { operation: minting, request: { mintRequestId: contractId("mint request") } };
    expect(byId("mint request")).toMatchObject({ completion: mints });
    const executes = { operation: "offledger.allocation.v1.AllocationService/GetAllocationTransferContext" };
    expect(byId("allocation bond leg")).toMatchObject({ completion: executes });
  });
});

test("a contract has its payload and the choices on it, if it is an instruction", async () => {
  const id = contractId("burn request");
  expect(await getContract(id)).toMatchObject({
    archived: false,
    contract: { template: "Utility.Registry.App.V0.Model.Burn:BurnRequest", createdAt: expect.any(String) },
    payload: { burn: { holder: alice }, lockedHoldingCid: contractId("holding redemption") },
    calls: ["Accept", "Reject", "Cancel"].map((choice) => ({
      operation: `offledger.burn.v0.BurnService/GetBurnRequest${choice}Context`,
      request: { burnRequestId: id },
    })),
  });
  const [credential = ""] = ids((await getParty(bob))["credentials"]);
  expect(await getContract(credential)).toMatchObject({ calls: [], payload: { holder: bob } });
  expect(await getContract("00ab")).toEqual({ archived: false, calls: [], views: {} });
});

test("of contracts that are read by interface it has the views, and how many no registrar of ours has signed", async () => {
  const { testTokenV2 } = read("interface-views-3.5.json") as {
    readonly testTokenV2: { readonly active: JsonObject[] };
  };
  const [rules, ...others] = testTokenV2.active.toSorted((one) =>
    eventOf(one).templateId.endsWith(":TokenRules") ? -1 : 1,
  );
  const forged = structuredClone(others.slice(0, 2));
  for (const one of forged)
    Object.assign(eventOf(one), { contractId: `00${eventOf(one).contractId}`, signatories: ["mallory::1220"] });
  const snapshot = await temporaryFile(
    "contracts.ndjson",
    [rules, ...forged].map((one) => JSON.stringify(one)).join("\n"),
  );
  const app = await start({ registry: "standard", snapshot, metricsPort: { host: "127.0.0.1", port: 0 } });
  const { origin } = new URL(app.metricsUrl ?? "");
  expect(await get("/inventory", origin)).toMatchObject({ foreignContracts: "2" });
  expect(valueOf((await scrape(app.metricsUrl)).samples, "offledger_foreign_contracts")).toBe(2);
  const { contractId: id, interfaceViews } = eventOf(rules);
  const { views } = await get(`/contracts/${id}`, origin);
  const shown = interfaceViews.map(({ interfaceId, viewValue }) => [interfaceId, viewValue]);
  const later = shown.filter(([interfaceId]) => /V2:|:SettlementFactory$/.test(interfaceId as string));
  expect(views).toEqual(Object.fromEntries(later) as object);
  expect(later).toHaveLength(3);
});

interface Shown extends JsonObject {
  readonly contractId: string;
  readonly templateId: string;
  readonly interfaceViews: JsonObject[];
}

const eventOf = (one: JsonObject | undefined): Shown =>
  (one as unknown as { contractEntry: { JsActiveContract: { createdEvent: Shown } } }).contractEntry.JsActiveContract
    .createdEvent;

test("a registry without a lookup has its inventory and contracts", async () => {
  const own = await serveConsole({ registry: ownModule });
  onTestFinished(() => own.close());
  const inventory = await get("/inventory", own.url);
  expect(inventory["checked"]).toBe(true);
  expect(inventory["registrars"]).not.toEqual([]);
  const found = await get("/parties/alice::1220", own.url);
  expect(found).toMatchObject({ credentials: [], instructions: [], incomplete: false });
});

describe("what it lists is bounded:", () => {
  const times = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));
  const [contract] = contractsOf([element("TransferOffer", "offer", payload.offer("alice", "bob", "USD", "locked"))]);
  if (contract === undefined) throw new Error("it is stored");
  const noVersion = () => undefined;
  const registrar = (instruments: number, services = 0) => ({
    party: "p",
    instruments: times(instruments, (at) => ({ id: String(at) })),
    services: times(services, () => ({ name: "n", contract })),
  });

  test("1,000 registrars, 1,000 instruments of each and 10,000 together, 100 services of each", () => {
    const many = registrarMessages(
      [...times(10, () => registrar(1_001)), ...times(991, () => registrar(1, 101))],
      noVersion,
    );
    expect(many.omitted).toBe(1);
    expect(many.messages).toHaveLength(1_000);
    const counts = many.messages.map(({ instruments = [], omittedInstruments }) => [
      instruments.length,
      omittedInstruments,
    ]);
    expect(counts.slice(9, 11)).toEqual([
      [1_000, 1],
      [0, 1],
    ]);
    expect(many.messages.at(-1)?.services).toHaveLength(100);
  });

  test("20 causes of an instruction, 200 claims of a credential", () => {
    const results = new PartyResults();
    const claims = times(201, () => ({ subject: "s", property: "p", value: "v" }));
    const causes = times(21, () => ({ code: "c", message: "m" }));
    results.add({
      credentials: [{ contract, issuer: "i", holder: "h", claims, validFrom: undefined, validUntil: undefined }],
      instructions: [{ contract, registrar: "r", instruments: [], causes, completion: undefined }],
    } as never);
    const { credentials, instructions } = partyMessage(results, noVersion);
    expect([credentials?.[0]?.claims?.length, instructions?.[0]?.causes?.length]).toEqual([200, 20]);
  });

  test("a refusal without its request, and with a message that UTF-8 cannot encode, is listed", () => {
    const refused = {
      requestId: "r",
      time: 0,
      operation: "o",
      protocol: "rest",
      status: "s",
      causes: [],
      request: undefined,
    };
    expect(refusalsMessage([{ ...refused, message: "a\ud800" }], "").refusals).toMatchObject([{ error: "a\ufffd" }]);
  });
});
