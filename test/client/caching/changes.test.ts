/** What changes of the ledger do to kept responses, and to responses that arrive after them. */
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { expect, onTestFinished, test } from "vitest";
import { BurnMintInstructionService } from "../../../gen/offledger/burn_mint_instruction/v0/burn_mint_instruction_service_pb.js";
import { MetadataService } from "../../../gen/offledger/metadata/v1/metadata_service_pb.js";
import { OperatorService } from "../../../gen/offledger/operator/v0/operator_service_pb.js";
import { TransferInstructionService } from "../../../gen/offledger/transfer_instruction/v2/transfer_instruction_service_pb.js";
import { createDefaultTransport } from "../../../packages/client/src/cache/default-transport.js";
import type { ScriptedLedger } from "../../scripted-participant/ledger.js";
import { payload } from "../../fixtures/elements.js";
import { gate, until } from "../../fixtures/wait.js";
import {
  CLAIM,
  create,
  createLedger,
  handled,
  openRegistry,
  OTHER_REGISTRAR,
  registrar,
  replaceFactory,
  startService,
  type TestRegistryOptions,
  transfer,
} from "./cached-service.js";

async function open(ledger: ScriptedLedger, options: TestRegistryOptions = {}, now?: () => number) {
  const service = await startService(ledger, now);
  onTestFinished(() => service.close());
  const registry = await openRegistry(service.url, options);
  onTestFinished(() => registry.close());
  const transfers = registry.client(TransferInstructionService);
  return { service, registry, ask: (sender: string) => transfers.getTransferFactory(transfer(sender, "bob")) };
}

test.each([
  ["Connect", {}],
  ["gRPC", { createTransport: (baseUrl, interceptors) => createGrpcTransport({ baseUrl, interceptors }) }],
] satisfies [string, TestRegistryOptions][])(
  "a change drops the responses that rest on it, over %s",
  async (_name, options) => {
    const ledger = createLedger();
    const { registry, ask } = await open(ledger, options);
    const before = await ask("alice");
    await ask("carol");
    create(ledger, "Credential", "credential of carol", payload.credential("carol", [CLAIM]));
    await handled(registry, ledger);
    expect(registry.statistics()).toMatchObject({ droppedByChanges: 1, resets: 1 });
    expect(await ask("alice")).toEqual(before);
    expect(registry.statistics()).toMatchObject({ hits: 1, misses: 2 });
    expect((await ask("carol")).choiceContext?.disclosedContracts.map(({ contractId }) => contractId)).toContain(
      "credential of carol",
    );
    replaceFactory(ledger, "factory", "second factory");
    await handled(registry, ledger);
    expect((await ask("alice")).factoryId).toBe("second factory");
    expect((await ask("carol")).factoryId).toBe("second factory");
    expect(registry.statistics()).toEqual({
      hits: 1,
      misses: 5,
      notModified: 0,
      droppedByChanges: 3,
      droppedUnchanged: 0,
      resets: 1,
    });
  },
);

test("a response that was dropped without need is not sent again", async () => {
  const ledger = createLedger();
  const { registry, ask } = await open(ledger);
  const before = await ask("alice");
  create(ledger, "Credential", "other credential", payload.credential("alice", ["hasAccount=EUR"]));
  await handled(registry, ledger);
  expect(await ask("alice")).toEqual(before);
  expect(registry.sent.map(({ condition }) => condition)).toEqual(['""', expect.stringMatching(/^W\/"/)]);
  const counted = { hits: 0, misses: 2, notModified: 1, droppedByChanges: 1, droppedUnchanged: 1 };
  expect(registry.statistics()).toMatchObject(counted);
  expect(await ask("alice")).toEqual(before);
  expect(registry.statistics()).toMatchObject({ ...counted, hits: 1 });
});

test.each([
  ["before the next call", true],
  ["after the next call", false],
])("a response that is older than an event is not kept if it arrives %s", async (_when, isFirst) => {
  const ledger = createLedger();
  const held = gate();
  let isHeld = true;
  const { registry, ask } = await open(ledger, { beforeResponse: async () => (isHeld ? held.opened : undefined) });
  const late = ask("alice");
  await until("the service has answered", () => registry.arrived === 1);
  isHeld = false;
  replaceFactory(ledger, "factory", "second factory");
  await handled(registry, ledger);
  if (isFirst) {
    held.open();
    await late;
  }
  // It is a request of its own, also while the other waits.
  expect((await ask("alice")).factoryId).toBe("second factory");
  held.open();
  expect((await late).factoryId).toBe("factory");
  expect((await ask("alice")).factoryId).toBe("second factory");
  expect(registry.statistics()).toMatchObject({ hits: 1, misses: 2 });
});

test("a response that is newer than an event is not dropped by it, and not replaced by an older one", async () => {
  const ledger = createLedger();
  const [lateEvent, lateResponse] = [gate(), gate()];
  let [isEventHeld, isResponseHeld] = [false, true];
  const { service, registry, ask } = await open(ledger, {
    beforeEvent: async () => (isEventHeld ? lateEvent.opened : undefined),
    beforeResponse: async () => (isResponseHeld ? lateResponse.opened : undefined),
  });
  const late = ask("alice");
  await until("the service has answered", () => registry.arrived === 1);
  [isEventHeld, isResponseHeld] = [true, false];
  replaceFactory(ledger, "factory", "second factory");
  const plain = createClient(TransferInstructionService, createDefaultTransport(service.url));
  const current = async () => (await plain.getTransferFactory(transfer("alice", "bob"))).factoryId;
  await until("the service has the second factory", async () => (await current()) === "second factory");
  // A request with a header of its own is not shared.
  const headers = { "x-request-id": "own" };
  const transfers = registry.client(TransferInstructionService);
  expect((await transfers.getTransferFactory(transfer("alice", "bob"), { headers })).factoryId).toBe("second factory");
  lateResponse.open();
  expect((await late).factoryId).toBe("factory");
  expect((await ask("alice")).factoryId).toBe("second factory");
  isEventHeld = false;
  lateEvent.open();
  await handled(registry, ledger);
  expect((await ask("alice")).factoryId).toBe("second factory");
  expect(registry.statistics()).toMatchObject({ hits: 2, misses: 2, droppedByChanges: 0 });
});

test.each([
  [20_000, 1],
  [1, 0],
])(
  "a late response is kept only if the events since are remembered: %i tags, %i hits",
  async (maxRememberedTags, hits) => {
    const ledger = createLedger();
    const held = gate();
    const { registry, ask } = await open(ledger, { maxRememberedTags, beforeResponse: () => held.opened });
    const late = ask("alice");
    await until("the service has answered", () => registry.arrived === 1);
    create(ledger, "Credential", "unrelated", payload.credential("dave", [CLAIM]));
    await handled(registry, ledger);
    held.open();
    await late;
    await ask("alice");
    expect(registry.statistics()).toMatchObject({ hits, misses: 2 - hits });
  },
);

test("a response with a summary of its tags is dropped by a change of one of them, and not by another", async () => {
  const ledger = createLedger();
  const { registry } = await open(ledger);
  const burnMint = registry.client(BurnMintInstructionService);
  const outputs = Array.from({ length: 100 }, (_, index) => ({ owner: `owner ${index}`, amount: "1.0" }));
  const instrumentId = { admin: registrar, id: "USD" };
  let tags: string | null = "";
  const onHeader = (header: Headers) => (tags = header.get("offledger-tags"));
  const ask = async () => {
    const { choiceContext } = await burnMint.getBurnMintFactory({ instrumentId, outputs }, { onHeader });
    return choiceContext?.disclosedContracts.map(({ contractId }) => contractId) ?? [];
  };
  expect(await ask()).not.toContain("credential of an owner");
  expect(tags).toMatch(/^~[\w-]{683}$/);
  create(ledger, "TransferPreapproval", "unrelated", payload.preapproval("dave", ["USD"]));
  await handled(registry, ledger);
  await ask();
  expect(registry.statistics()).toMatchObject({ hits: 1, droppedByChanges: 0 });
  create(ledger, "Credential", "credential of an owner", payload.credential("owner 70", [CLAIM]));
  await handled(registry, ledger);
  expect(await ask()).toContain("credential of an owner");
  expect(registry.statistics()).toMatchObject({ hits: 1, droppedByChanges: 1 });
});

test("a response is used until a credential ends, by the clock of the service", async () => {
  const HOUR_MS = 3_600_000;
  let passed = 0;
  const ledger = createLedger();
  const validUntil = new Date(Date.now() + HOUR_MS).toISOString();
  create(ledger, "Credential", "credential of dave", payload.credential("dave", [CLAIM], { validUntil }));
  const clock = () => performance.now() + passed;
  const options = { clock, maxSilenceMs: 2 * HOUR_MS };
  const { registry, ask } = await open(ledger, options, () => Date.now() + passed);
  const disclosed = async (sender: string) =>
    (await ask(sender)).choiceContext?.disclosedContracts.map(({ contractId }) => contractId);
  expect(await disclosed("dave")).toContain("credential of dave");
  await ask("alice");
  passed = HOUR_MS - 60_000;
  expect(await disclosed("dave")).toContain("credential of dave");
  expect(registry.statistics()).toMatchObject({ hits: 1, misses: 2 });
  passed = HOUR_MS;
  expect(await disclosed("dave")).not.toContain("credential of dave");
  expect(await disclosed("alice")).toContain("credential of alice");
  expect(registry.statistics()).toMatchObject({ hits: 2, misses: 3 });
});

test("with registrars, only responses to requests that name one of them are kept", async () => {
  const ledger = createLedger();
  const others = { registrar: OTHER_REGISTRAR };
  create(ledger, "AllocationFactory", "other factory", payload.service(others));
  const { registry } = await open(ledger, { registrars: [registrar] });
  const metadata = registry.client(MetadataService);
  const operator = registry.client(OperatorService);
  for (let call = 0; call < 2; call++) {
    await metadata.getRegistryInfo({ registrarParty: registrar });
    await metadata.getRegistryInfo({ registrarParty: OTHER_REGISTRAR });
    await operator.getOperator({});
  }
  expect(registry.statistics()).toMatchObject({ hits: 1, misses: 5, notModified: 2 });
});
