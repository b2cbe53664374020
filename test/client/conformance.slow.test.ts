/** Clients that others wrote, on the running service: `buf curl`, which knows only what reflection returns, and connect-es. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.js";
import { MetadataService } from "../../gen/offledger/metadata/v1/metadata_service_pb.js";
import { TransferInstructionService } from "../../gen/offledger/transfer_instruction/v1/transfer_instruction_service_pb.js";
import { RegistryError } from "../../src/domain/errors.js";
import { createServer, type Server } from "../../src/transport/server.js";
import { configurations } from "./transports.js";
import { nordic } from "../fixtures/calls/build.js";
import { bindPartial } from "../fixtures/partial-service.js";
import { type Running, serveFile } from "../fixtures/run-service.js";
import { TEST_SERVER_OPTIONS } from "../fixtures/server-options.js";
import { nameOf, rpcs } from "../fixtures/services.js";
import { MAX_WAIT_MS, until, within } from "../fixtures/wait.js";

/** Returns its output, or stderr when it fails. */
async function bufCurl(...args: readonly string[]): Promise<string> {
  try {
    const command = ["curl", "--http2-prior-knowledge", "--reflect", ...args];
    return (await promisify(execFile)("node_modules/.bin/buf", command, { timeout: 20_000 })).stdout;
  } catch (error) {
    return (error as { stderr: string }).stderr;
  }
}

describe("buf curl", () => {
  let running: Running;
  beforeAll(async () => {
    running = await serveFile(undefined);
  });
  afterAll(() => running.close());

  test.each(["grpc-v1", "grpc-v1alpha"])("lists every rpc with reflection %s", async (version) => {
    const streams = [
      "grpc.health.v1.Health/Check",
      "grpc.health.v1.Health/List",
      "grpc.health.v1.Health/Watch",
      "grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
      "grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
      "offledger.watch.v1.WatchService/Watch",
    ];
    const listed = await bufCurl("--reflect-protocol", version, "--list-methods", running.url);
    expect(listed.trim().split("\n").toSorted()).toEqual([...rpcs.map(nameOf), ...streams].toSorted());
  });

  test.each(["grpc", "grpcweb", "connect"])("calls operations, and gets errors over %s", async (protocol) => {
    const call = async (rpc: string, request: object) =>
      JSON.parse(
        await bufCurl("--protocol", protocol, "-d", JSON.stringify(request), `${running.url}/${rpc}`),
      ) as unknown;
    const list = await call("offledger.metadata.v1.MetadataService/ListInstruments", { registrarParty: nordic });
    expect(list).toMatchObject({ instruments: [{ id: "NOK-CASH" }] });
    for (const service of ["", "offledger.mint.v0.MintService"])
      expect(await call("grpc.health.v1.Health/Check", { service })).toEqual({ status: "SERVING" });
    const message = "service offledger.mint.v0 is not served here";
    const unknown = await call("grpc.health.v1.Health/Check", { service: "offledger.mint.v0" });
    expect(unknown).toMatchObject({ code: "not_found", message });
  });
});

/** A message with characters that headers have to escape. */
const MESSAGE = 'what is wrong: ä, 発, %, "" — and more';
let waiting = 0;
let release: (() => void)[] = [];

/** Ends as the id says: with an error, when it is released, or with a response of a given length. */
async function endAs(id: string) {
  const [kind = "", value = ""] = id.split(":");
  if (kind === "conflict") throw new RegistryError("conflict", MESSAGE);
  if (kind === "wait") {
    waiting++;
    await new Promise<void>((resolve) => release.push(resolve));
    waiting--;
  }
  if (kind === "large") return { adminId: "a".repeat(Number(value)), supportedApis: {} };
  return { adminId: id, supportedApis: {} };
}

/** Releases all waiting handlers, so that none outlives its test. */
async function releaseAll(): Promise<void> {
  await until("no handler waits", () => {
    for (const resolve of release) resolve();
    release = [];
    return waiting === 0;
  });
}

async function errorOf(promise: Promise<unknown>): Promise<ConnectError> {
  try {
    await within(MAX_WAIT_MS, "the call has ended", promise);
  } catch (error) {
    return ConnectError.from(error);
  }
  throw new Error("the call succeeded");
}

/** The unary cases of Connect's conformance suite. */
describe.each(configurations)("connect-es by $name", ({ protocol, createTransport }) => {
  let server: Server;
  let transport: Transport;
  beforeAll(async () => {
    const bindings = [
      bindPartial(MetadataService, { getRegistryInfo: ({ registrarParty }) => endAs(registrarParty) }),
      // Choice arguments may be large. The response has the length of a text in them.
      bindPartial(TransferInstructionService, {
        getTransferFactory: async ({ choiceArguments }) => ({
          factoryId: String(JSON.stringify(choiceArguments?.["text"]).length - 2),
          transferKind: "offer",
          values: [],
          disclosed: [],
        }),
      }),
    ];
    server = await createServer(bindings, TEST_SERVER_OPTIONS);
    transport = createTransport(await server.listen("127.0.0.1", 0));
  });
  afterAll(() => server.close(1_000));
  const call = (registrarParty: string, options = {}) =>
    createClient(MetadataService, transport).getRegistryInfo({ registrarParty }, options);

  const sendText = (length: number) =>
    createClient(TransferInstructionService, transport).getTransferFactory({
      registrarParty: "a",
      choiceArguments: { text: "a".repeat(length) },
    });

  test("gets an error with its details, and unimplemented for an unknown method", async () => {
    const error = await errorOf(call("conflict"));
    expect([error.code, error.rawMessage]).toEqual([Code.Aborted, MESSAGE]);
    expect(error.findDetails(ErrorInfoSchema)).toMatchObject([{ reason: "CONFLICT", domain: "offledger" }]);
    const { getRegistryInfo } = MetadataService.method;
    const unknown = { ...getRegistryInfo, name: "Nothing" } as typeof getRegistryInfo;
    const sent = transport.unary(unknown, undefined, undefined, undefined, { registrarParty: "a" });
    expect((await errorOf(sent)).code).toBe(Code.Unimplemented);
  });

  test("receives large and empty responses, and sends large requests up to the limit", async () => {
    for (const length of [0, 1, 65_536, 3_000_000])
      expect((await call(`large:${length}`)).adminId).toHaveLength(length);
    // The longest id, in the URL of a GET too.
    const id = "発".repeat(512);
    expect((await call(id)).adminId).toBe(id);
    expect((await errorOf(call(`${id}x`))).code).toBe(Code.InvalidArgument);
    if (protocol === "Connect GET") return;
    expect((await sendText(1_000_000)).factoryId).toBe("1000000");
    expect((await errorOf(sendText(1_100_000))).code).toBe(Code.ResourceExhausted);
    expect((await sendText(1)).factoryId).toBe("1");
  });

  test("ends at its deadline, and when it is cancelled", async () => {
    expect((await errorOf(call("wait", { timeoutMs: 50 }))).code).toBe(Code.DeadlineExceeded);
    await releaseAll();
    expect((await errorOf(call("a", { signal: AbortSignal.abort() }))).code).toBe(Code.Canceled);
    const cancel = new AbortController();
    const error = errorOf(call("wait", { signal: cancel.signal }));
    await until("the call has arrived", () => waiting > 0);
    cancel.abort();
    expect((await error).code).toBe(Code.Canceled);
    await releaseAll();
  });
});
