/** `buf curl` against the running service. It knows only the definitions that reflection returns. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { nordic } from "../../fixtures/calls/build.js";
import { type Running, serveFile } from "../../fixtures/run-service.js";
import { nameOf, rpcs } from "../../fixtures/services.js";

let running: Running;
beforeAll(async () => {
  running = await serveFile(undefined);
});
afterAll(() => running.close());

/** Runs `buf curl`. Returns its output, or stderr when it fails. */
async function bufCurl(...args: readonly string[]): Promise<string> {
  try {
    const command = ["curl", "--http2-prior-knowledge", "--reflect", ...args];
    return (await promisify(execFile)("node_modules/.bin/buf", command, { timeout: 20_000 })).stdout;
  } catch (error) {
    return (error as { stderr: string }).stderr;
  }
}

const standard = [
  "grpc.health.v1.Health/Check",
  "grpc.health.v1.Health/List",
  "grpc.health.v1.Health/Watch",
  "grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
  "grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
];

/** The one that streams. */
const WATCH = "offledger.watch.v1.WatchService/Watch";

describe.each(["grpc-v1", "grpc-v1alpha"])("with reflection %s", (version) => {
  test("lists every rpc", async () => {
    const listed = await bufCurl("--reflect-protocol", version, "--list-methods", running.url);
    expect(listed.trim().split("\n").toSorted()).toEqual([...rpcs.map(nameOf), WATCH, ...standard].toSorted());
  });
});

describe.each(["grpc", "grpcweb", "connect"])("over %s", (protocol) => {
  const call = (rpc: string, request: object) =>
    bufCurl("--protocol", protocol, "-d", JSON.stringify(request), `${running.url}/${rpc}`);

  test("calls an operation", async () => {
    const output = await call("offledger.metadata.v1.MetadataService/ListInstruments", { registrarParty: nordic });
    expect(JSON.parse(output)).toMatchObject({ instruments: [{ id: "NOK-CASH" }] });
  });

  test("checks the health of the server and of a service", async () => {
    for (const service of ["", "offledger.mint.v0.MintService", "grpc.health.v1.Health"]) {
      expect(JSON.parse(await call("grpc.health.v1.Health/Check", { service }))).toEqual({ status: "SERVING" });
    }
    const unknown = await call("grpc.health.v1.Health/Check", { service: "offledger.mint.v0" });
    expect(JSON.parse(unknown)).toMatchObject({
      code: "not_found",
      message: "service offledger.mint.v0 is not served here",
    });
  });
});
