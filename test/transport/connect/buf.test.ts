/** buf itself, on the service as it is started: it knows nothing of the definitions but what reflection tells it. */
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

/** What `buf curl` prints, or what it says of an error. */
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

describe.each(["grpc-v1", "grpc-v1alpha"])("with reflection of %s", (version) => {
  test("finds every rpc there is", async () => {
    const listed = await bufCurl("--reflect-protocol", version, "--list-methods", running.url);
    expect(listed.trim().split("\n").toSorted()).toEqual([...rpcs.map(nameOf), ...standard].toSorted());
  });
});

describe.each(["grpc", "grpcweb", "connect"])("by %s", (protocol) => {
  const call = (rpc: string, request: object) =>
    bufCurl("--protocol", protocol, "-d", JSON.stringify(request), `${running.url}/${rpc}`);

  test("calls an operation", async () => {
    const said = await call("offledger.metadata.v1.MetadataService/ListInstruments", { registrarParty: nordic });
    expect(JSON.parse(said)).toMatchObject({ instruments: [{ id: "NOK-CASH" }] });
  });

  test("asks for the health of the whole, and of a service", async () => {
    for (const service of ["", "offledger.mint.v0.MintService", "grpc.health.v1.Health"]) {
      expect(JSON.parse(await call("grpc.health.v1.Health/Check", { service }))).toEqual({ status: "SERVING" });
    }
    const unknown = await call("grpc.health.v1.Health/Check", { service: "offledger.mint.v0" });
    expect(JSON.parse(unknown)).toEqual({ code: "not_found", message: "offledger.mint.v0 is not served here" });
  });

  test("is told of an rpc that is not there", async () => {
    expect(await call("offledger.metadata.v1.MetadataService/Nothing", {})).toContain("Nothing");
  });
});
