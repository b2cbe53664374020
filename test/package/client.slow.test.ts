/** The packed package: its files, its client and the types of the client. */
import { readdir, readFile } from "node:fs/promises";
import { createFileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { party } from "../../demo/element.js";
import { Program } from "../fixtures/program.js";
import { type Running, serveFile } from "../fixtures/run-service.js";
import { Project } from "./project.js";

let project: Project;
beforeAll(async () => {
  project = await Project.create();
}, 120_000);
afterAll(() => project.remove());

const registrarParty = party("nordic-registrar");

describe("the package", () => {
  test("contains the program, definitions, migrations and demos, and no sources", async () => {
    const top = new Set(project.packed.map((path) => path.replace(/\/.*/, "")));
    expect([...top].toSorted()).toEqual([
      "README.md",
      "clients",
      "demo",
      "dist",
      "gen",
      "package.json",
      "proto",
      "src",
      "third_party",
    ]);
    expect(project.packed.filter((path) => /(?:^|\/)(?:test|bench|scripts)\/|\.test\./.test(path))).toEqual([]);
    // Of the clients only the templates, which name the generators.
    expect(
      project.packed.filter((path) => path.startsWith("clients/") && !/^clients\/buf\/.*\.yaml$/.test(path)),
    ).toEqual([]);
    expect(project.packed.filter((path) => path.endsWith(".ts") && !path.endsWith(".d.ts"))).toEqual([]);
    // The program reads the table of operations and the migrations from src.
    const migrations = await readdir("src/store/postgres/migrations");
    expect(project.packed.filter((path) => path.startsWith("src/")).toSorted()).toEqual(
      [
        "src/registry/utility/contexts.yaml",
        ...migrations.map((name) => `src/store/postgres/migrations/${name}`),
      ].toSorted(),
    );
    expect(project.packed).toEqual(
      expect.arrayContaining([
        "demo/registry.ndjson",
        "demo/minimal.ndjson",
        "gen/offledger.binpb",
        "gen/openapi.json",
      ]),
    );
  });

  test("contains every file that package.json names", async () => {
    const { bin, exports } = JSON.parse(
      await readFile(project.path("node_modules/offledger/package.json"), "utf8"),
    ) as {
      bin: Record<string, string>;
      exports: Record<string, string | Record<string, string>>;
    };
    const paths = [
      ...Object.values(bin),
      ...Object.values(exports).flatMap((one) => Object.values(Object(one) as object)),
    ];
    expect(paths.length).toBeGreaterThan(4);
    for (const path of paths.filter((text) => text.length > 1))
      expect(project.packed).toContain(String(path).replace(/^\.\//, ""));
  });

  test("exports nothing else", async () => {
    await project.write(
      "inside.js",
      `const results = await Promise.allSettled(["offledger", "offledger/dist/src/app/app.js", "offledger/client.js"].map((name) => import(name)));
       console.log(JSON.stringify(results.map(({ reason }) => reason?.code)));`,
    );
    const code = "ERR_PACKAGE_PATH_NOT_EXPORTED";
    expect(await project.json("inside.js")).toEqual([code, code, code]);
  });

  test.each([
    ["the demo of the Registry Utility", [], "acme-registrar::1220"],
    ["the demo of the minimal registry", ["--registry", "minimal"], "coffee-club::1220"],
  ])("starts without settings, with %s", async (_title, args, registrar) => {
    const env = { OFFLEDGER_PORT: "0", OFFLEDGER_LOG_LEVEL: "warn" };
    const program = new Program(process.execPath, [project.program, "serve", ...args], { cwd: project.folder, env });
    const [, url = ""] = await program.printed(/^offledger serves \S+ at (http:\S+)$/m);
    await program.printed(new RegExp(`^registrar ${registrar}`, "m"));
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    expect((await fetch(`${url}/docs`)).status).toBe(200);
    expect((await fetch(`${url}/docs/static/swagger-ui-bundle.js`)).status).toBe(200);
    program.stop();
    expect(await program.ended()).toMatchObject({ code: 0, err: "" });
  });
});

describe("the client", () => {
  let running: Running;
  beforeAll(async () => {
    running = await serveFile(undefined);
  });
  afterAll(() => running.close());

  test.each([
    ["Connect", `createConnectTransport({ baseUrl: process.argv[2], httpVersion: "1.1" })`],
    ["Connect with HTTP/2", `createConnectTransport({ baseUrl: process.argv[2], httpVersion: "2" })`],
    ["gRPC", "createGrpcTransport({ baseUrl: process.argv[2] })"],
    ["gRPC-Web", `createGrpcWebTransport({ baseUrl: process.argv[2], httpVersion: "1.1" })`],
  ])("calls by %s", async (_protocol, transport) => {
    await project.write(
      "wallet.js",
      `import { Code, ConnectError, createClient } from "@connectrpc/connect";
       import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
       import { MetadataV1, OperatorV0, TransferFactoryWithChoiceContext_TransferKind as Kind, TransferInstructionV1 } from "offledger/client";
       const transport = ${transport};
       const registrarParty = process.argv[3];
       const { instruments } = await createClient(MetadataV1, transport).listInstruments({ registrarParty });
       const { partyId } = await createClient(OperatorV0, transport).getOperator({});
       const transfer = { sender: "alice", receiver: "alice", amount: "1.0", instrumentId: { admin: registrarParty, id: instruments[0].id } };
       const wallet = createClient(TransferInstructionV1, transport);
       const { factoryId, transferKind, choiceContext } = await wallet.getTransferFactory({
         registrarParty,
         choiceArguments: { expectedAdmin: registrarParty, transfer },
       });
       const disclosed = choiceContext.disclosedContracts.map(({ contractId }) => contractId);
       const failure = await wallet.getTransferInstructionRejectContext({ registrarParty, transferInstructionId: "00" })
         .catch((error) => Code[ConnectError.from(error).code]);
       console.log(JSON.stringify({ ids: instruments.map(({ id }) => id), partyId, kind: Kind[transferKind], isDisclosed: disclosed.includes(factoryId), failure }));
       process.exit();`,
    );
    expect(await project.json("wallet.js", running.url, registrarParty)).toEqual({
      ids: ["NOK-CASH"],
      partyId: party("utility-operator"),
      kind: "self",
      isDisclosed: true,
      failure: "NotFound",
    });
  });

  test("exports every service, message and enum of the definitions once", async () => {
    const definitions = await readFile(project.path("node_modules/offledger/gen/offledger.binpb"));
    const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, definitions));
    const described = [...registry]
      .filter(({ kind, typeName }) => kind !== "extension" && typeName.startsWith("offledger."))
      .filter((one) => one.kind !== "message" || one.name !== "ValuesEntry")
      .map(({ kind, typeName }) => `${kind} ${typeName}`);
    await project.write(
      "names.js",
      `import * as client from "offledger/client";
       console.log(JSON.stringify(Object.entries(client).filter(([, { typeName }]) => typeName).map(([name, { kind, typeName }]) => [kind + " " + typeName, name])));`,
    );
    const exported = (await project.json("names.js")) as [described: string, name: string][];
    expect(exported.map(([one]) => one).toSorted()).toEqual(described.toSorted());
    const services = exported.filter(([one]) => one.startsWith("service "));
    expect(services.length).toBe(14);
    // offledger.mint.v0.MintService is MintV0.
    for (const [one, name] of services) {
      const [, version = "", group = ""] = /\.(v\d+)\.(\w+)Service$/.exec(one) ?? [];
      expect(name).toBe(`${group}${version.toUpperCase()}`);
    }
  });
});

/** A module that calls several operations, with an additional line. */
const wallet = (more: string) => `
  import { createClient, type Client, type Transport } from "@connectrpc/connect";
  import { create, type MessageInitShape } from "@bufbuild/protobuf";
  import {
    type ChoiceContext,
    type DisclosedContract,
    GetFactoryRequestSchema,
    InstrumentConfigurationV0,
    MetadataV1,
    MintV0,
    TransferFactoryWithChoiceContext_TransferKind as TransferKind,
    TransferInstructionV1,
    TransferInstructionV2,
    type UtilityDisclosedContract,
  } from "offledger/client";

  export async function ask(transport: Transport, registrarParty: string): Promise<string[]> {
    const wallet: Client<typeof TransferInstructionV1> = createClient(TransferInstructionV1, transport);
    const request: MessageInitShape<typeof GetFactoryRequestSchema> = { registrarParty, choiceArguments: { transfer: { sender: "alice" } } };
    const { factoryId, transferKind, choiceContext } = await wallet.getTransferFactory(create(GetFactoryRequestSchema, request));
    const kind: "self" | "other" = transferKind === TransferKind.self ? "self" : "other";
    const context: ChoiceContext | undefined = choiceContext;
    const disclosed: DisclosedContract[] = context?.disclosedContracts ?? [];
    const { nextPageToken } = await createClient(MetadataV1, transport).listInstruments({ registrarParty, pageSize: 1 });
    const next: string | undefined = nextPageToken;
    const reject = await createClient(TransferInstructionV2, transport).getTransferInstructionRejectContext({ registrarParty, transferInstructionId: "00", excludeDebugFields: true });
    const minted = await createClient(MintV0, transport).getMintOfferAcceptContext({ mintOfferId: "00" });
    const ofUtility: UtilityDisclosedContract[] = minted.disclosedContracts;
    const { payload } = await createClient(InstrumentConfigurationV0, transport).getInstrumentConfiguration({ registrar: registrarParty, instrumentIdentifier: { source: "", id: "", scheme: "" } });
    const claims: string | undefined = payload?.holderRequirements[0]?.requiredClaims;
    ${more}
    return [factoryId, kind, next ?? "", claims ?? "", ...[...disclosed, ...reject.disclosedContracts].map(({ contractId }) => contractId), ...ofUtility.map(({ domainId }) => domainId)];
  }`;

describe("the types of the client", () => {
  const strict = ["--noEmit", "--strict", "--target", "es2023", "--module", "nodenext", "--exactOptionalPropertyTypes"];
  test("compile in a strict project that also checks its libraries", async () => {
    await project.write("typed.ts", wallet(""));
    expect(await project.compile(...strict, "--types", "", "typed.ts")).toEqual({ code: 0, out: "", err: "" });
  });

  test.each([
    [
      "an unknown field of a request",
      `await wallet.getTransferFactory({ registrarparty: registrarParty });`,
      "registrarparty",
    ],
    ["a field of a request with the wrong type", "await wallet.getTransferFactory({ registrarParty: 5 });", "number"],
    ["an unknown field of a response", "console.log((await wallet.getTransferFactory({})).factoryID);", "factoryID"],
    ["an unknown operation", "await wallet.getTransferFactories({});", "getTransferFactories"],
    ["an unknown enum value", "console.log(TransferKind.sideways);", "sideways"],
  ])("reject %s", async (_title, line, name) => {
    await project.write("wrong.ts", wallet(`const console = { log(_: unknown) {} }; console.log(0); ${line}`));
    const { code, out } = await project.compile(...strict, "--types", "", "wrong.ts");
    expect(code).not.toBe(0);
    const errors = out.split("\n").filter((text) => text.includes("error TS"));
    expect(errors).toEqual([expect.stringMatching(new RegExp(`^wrong\\.ts.*${name}`))]);
  });

  test("compile the example of docs/clients.md", async () => {
    const [, example = ""] =
      /```ts\n([^`]*"offledger\/client"[^`]*)```/.exec(await readFile("docs/clients.md", "utf8")) ?? [];
    expect(example).toContain("createClient(");
    const declarations = `import type { JsonObject } from "@bufbuild/protobuf";
      declare const registrarParty: string;
      declare const choiceArguments: JsonObject;`;
    await project.write("example.ts", `${declarations}\n${example}`);
    // The transports use types of Node.js.
    await project.link("@types/node");
    expect(await project.compile(...strict, "--types", "node", "example.ts")).toEqual({ code: 0, out: "", err: "" });
  });
});
