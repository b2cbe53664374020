/** The packed client: its files, its calls, its exports and its types. */
import { readFile } from "node:fs/promises";
import { createFileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { contractId, party } from "../../demo/element.js";
import { type Running, serveFile } from "../fixtures/run-service.js";
import { Project } from "./project.js";

let project: Project;
let running: Running;
beforeAll(async () => {
  project = await Project.withClient();
  // The transports and the types that they use.
  await project.link("@connectrpc/connect-node");
  await project.link("@types/node");
  running = await serveFile(undefined);
}, 300_000);
afterAll(async () => {
  await running.close();
  await project.remove();
});

const registrarParty = party("nordic-registrar");

describe("the package", () => {
  test("contains compiled code, types and a README only", () => {
    const code = project.packed.filter((path) => path.startsWith("dist/"));
    expect(code.filter((path) => !/\.(?:js|d\.ts)$/.test(path))).toEqual([]);
    expect(code.length).toBeGreaterThan(60);
    expect(project.packed.filter((path) => !code.includes(path)).toSorted()).toEqual(["README.md", "package.json"]);
  });

  test("has the version of the server, and three packages beside it", async () => {
    const server = JSON.parse(await readFile("package.json", "utf8")) as {
      version: string;
      dependencies: Record<string, string>;
      devDependencies: Record<string, string>;
    };
    const known = { ...server.dependencies, ...server.devDependencies };
    const { version, dependencies, peerDependencies = {} } = await project.manifest("@offledger/client");
    expect(version).toBe(server.version);
    expect(dependencies).toBeUndefined();
    expect(Object.keys(peerDependencies)).toEqual([
      "@bufbuild/protobuf",
      "@connectrpc/connect",
      "@connectrpc/connect-web",
    ]);
    // Generated code works with the version of its generator and later ones.
    for (const [name, range] of Object.entries(peerDependencies)) expect(range).toBe(`^${known[name]}`);
  });

  test("imports nothing but them, so neither validation nor the server", async () => {
    const imported = new Set<string>();
    for (const path of project.packed.filter((one) => one.startsWith("dist/"))) {
      const text = await readFile(project.path(`node_modules/@offledger/client/${path}`), "utf8");
      for (const [, name = ""] of text.matchAll(/^(?:import|export) .*?from "([^."][^"]*)";$/gm)) imported.add(name);
      expect(text).not.toMatch(/buf\/validate|buf_validate|google\/api|google_api/);
    }
    expect([...imported].toSorted()).toEqual([
      "@bufbuild/protobuf",
      "@bufbuild/protobuf/codegenv2",
      "@bufbuild/protobuf/wire",
      "@bufbuild/protobuf/wkt",
      "@connectrpc/connect",
      "@connectrpc/connect-web",
    ]);
  });
});

describe("calls", () => {
  test.each([
    ["Connect", `createConnectTransport({ baseUrl: process.argv[2], httpVersion: "1.1" })`],
    ["gRPC", "createGrpcTransport({ baseUrl: process.argv[2] })"],
  ])("by %s", async (_protocol, transport) => {
    await project.write(
      "wallet.js",
      `import { Code, ConnectError, createClient } from "@connectrpc/connect";
       import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
       import { MetadataServiceV1, OperatorServiceV0, TransferInstructionServiceV1 } from "@offledger/client";
       import { TransferFactoryWithChoiceContext_TransferKind as Kind, TransferInstructionServiceV2 } from "@offledger/client";
       const transport = ${transport};
       const [, , , registrarParty, bob, carol] = process.argv;
       const { instruments } = await createClient(MetadataServiceV1, transport).listInstruments({ registrarParty });
       const { partyId } = await createClient(OperatorServiceV0, transport).getOperator({});
       const instrumentId = { admin: registrarParty, id: instruments[0].id };
       const v1 = createClient(TransferInstructionServiceV1, transport);
       const v2 = createClient(TransferInstructionServiceV2, transport);
       const factories = await Promise.all([
         v1.getTransferFactory({
           registrarParty,
           choiceArguments: { expectedAdmin: registrarParty, transfer: { sender: bob, receiver: bob, amount: "1.0", instrumentId } },
         }),
         v1.getTransferFactory({
           registrarParty,
           typedArguments: { case: "transferV1", value: { transfer: { sender: bob, receiver: carol, instrumentId } } },
         }),
         v2.getTransferFactory({
           registrarParty,
           typedArguments: {
             case: "transferV2",
             value: { transfer: { sender: { owner: bob }, receiver: { owner: carol }, instrumentId } },
           },
         }),
       ]);
       const blobs = factories[2].choiceContext.disclosedContracts.map(({ createdEventBlob }) => createdEventBlob instanceof Uint8Array);
       const failure = await v1.getTransferInstructionRejectContext({ registrarParty, transferInstructionId: "00" })
         .catch((error) => Code[ConnectError.from(error).code]);
       console.log(JSON.stringify({
         ids: instruments.map(({ id }) => id), partyId, blobs, failure,
         factories: factories.map(({ factoryId, transferKind }) => [Kind[transferKind], factoryId]),
       }));
       process.exit();`,
    );
    const factory = contractId(`factory of ${registrarParty}`);
    expect(await project.json("wallet.js", running.url, registrarParty, party("bob"), party("carol"))).toEqual({
      ids: ["NOK-CASH"],
      partyId: party("utility-operator"),
      factories: ["self", "offer", "offer"].map((kind) => [kind, factory]),
      blobs: [true, true],
      failure: "NotFound",
    });
  });
});

/** `message offledger.mint.v0.Outer.Inner` as generated code names it: `Outer_Inner`. */
const proto = (described: string): string => described.replace(/.*\.v\d+\./, "").replaceAll(".", "_");

const isDetail = ([one]: [string, string]) => one.startsWith("message google.rpc.");

test("exports every service, message and enum of the public port once", async () => {
  const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, await readFile("gen/offledger.binpb")));
  const described = [...registry]
    .filter(({ kind, typeName }) => kind !== "extension" && typeName.startsWith("offledger."))
    // Those of the operator's port.
    .filter(({ typeName }) => !/^offledger\.(console|explain)\./.test(typeName))
    .filter((one) => one.kind !== "message" || one.name !== "ValuesEntry")
    .map(({ kind, typeName }) => `${kind} ${typeName}`);
  await project.write(
    "names.js",
    `import * as client from "@offledger/client";
     console.log(JSON.stringify(Object.entries(client).filter(([, { typeName }]) => typeName).map(([name, { kind, typeName }]) => [kind + " " + typeName, name])));`,
  );
  const all = (await project.json("names.js")) as [described: string, name: string][];
  expect(all.filter(isDetail).map(([, name]) => name)).toEqual(
    expect.arrayContaining(["BadRequestSchema", "ErrorInfoSchema", "RetryInfoSchema"]),
  );
  const exported = all.filter((one) => !isDetail(one));
  expect(exported.map(([one]) => one).toSorted()).toEqual(described.toSorted());
  const services = exported.filter(([one]) => one.startsWith("service "));
  expect(services.length).toBe(15);
  // offledger.mint.v0.MintService is MintServiceV0.
  for (const [one, name] of services) {
    const [, version = "", service = ""] = /\.(v\d+)\.(\w+)$/.exec(one) ?? [];
    expect(name).toBe(`${service}${version.toUpperCase()}`);
  }
  // Every other name is that of the proto file. Where packages share it, all but one have their version or `Utility`.
  for (const [one, name] of exported.filter((each) => !services.includes(each))) {
    const version = /\.(v\d+)\./.exec(one)?.[1]?.toUpperCase();
    const isShared = exported.filter(([other]) => proto(other) === proto(one)).length > 1;
    const distinct = isShared ? [`${proto(one)}${version}Schema`, `Utility${proto(one)}Schema`] : [];
    expect([`${proto(one)}Schema`, ...distinct]).toContain(name);
  }
});

test("a cached registry answers from its cache by its default transport, and lets the process end", async () => {
  await project.write(
    "cached.js",
    `import { setTimeout as delay } from "node:timers/promises";
     import { cachedRegistry, MetadataServiceV1 } from "@offledger/client";
     const [, , url, registrarParty] = process.argv;
     const registry = cachedRegistry(url, { registrars: [registrarParty] });
     const metadata = registry.client(MetadataServiceV1);
     while (!registry.isLive) await delay(5);
     const ids = [];
     for (let call = 0; call < 3; call++)
       ids.push(...(await metadata.listInstruments({ registrarParty })).instruments.map(({ id }) => id));
     const { hits, misses } = registry.statistics();
     await registry.close();
     console.log(JSON.stringify({ ids, hits, misses }));`,
  );
  const printed = await project.json("cached.js", running.url, registrarParty);
  expect(printed).toEqual({ ids: ["NOK-CASH", "NOK-CASH", "NOK-CASH"], hits: 2, misses: 1 });
});

test("its types compile in a strict project that also checks its libraries", async () => {
  await project.write(
    "typed.ts",
    `import type { Client } from "@connectrpc/connect";
     import { create, type MessageInitShape } from "@bufbuild/protobuf";
     import {
       type Account, type ChoiceContext, type DisclosedContract, GetTransferFactoryRequestSchema, type SettlementInfoV1,
       TransferFactoryWithChoiceContext_TransferKind as TransferKind, TransferInstructionServiceV1, type TransferV2,
       TransferV2Schema, type UtilityDisclosedContract, type UtilityTransfer,
     } from "@offledger/client";

     export async function ask(wallet: Client<typeof TransferInstructionServiceV1>, registrarParty: string) {
       const transfer: TransferV2 = create(TransferV2Schema, { sender: { owner: "alice" }, amount: "1.0" });
       const sender: Account | undefined = transfer.sender;
       const request: MessageInitShape<typeof GetTransferFactoryRequestSchema> = {
         registrarParty, typedArguments: { case: "transferV2", value: { transfer } },
       };
       const { transferKind, choiceContext } = await wallet.getTransferFactory(request);
       const context: ChoiceContext | undefined = choiceContext;
       const disclosed: DisclosedContract[] = context?.disclosedContracts ?? [];
       const others: [SettlementInfoV1?, UtilityTransfer?, UtilityDisclosedContract?] = [];
       return [sender, transferKind === TransferKind.self, disclosed, others];
     }`,
  );
  const strict = "--strict --target es2023 --module nodenext --exactOptionalPropertyTypes --types"
    .split(" ")
    .concat("");
  expect(await project.compile("--noEmit", ...strict, "typed.ts")).toEqual({ code: 0, out: "", err: "" });
});
