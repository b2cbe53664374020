/** `buf curl`, which knows only what reflection returns, on the running service. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { nordic } from "../fixtures/calls/build.js";
import { type Running, serveFile } from "../fixtures/run-service.js";
import { nameOf, rpcs } from "../fixtures/services.js";

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
