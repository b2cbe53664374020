/** The handlers of the service mounted by connect-node with its defaults. */
import http from "node:http";
import http2 from "node:http2";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import type { JsonObject } from "@bufbuild/protobuf";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { readConfig } from "../../src/config/config.js";
import { QueryExecutor } from "../../src/registry/executor.js";
import { loadRegistry } from "../../src/app/registry.js";
import { sourceOptions } from "../../src/app/options.js";
import { services } from "../../src/service/services.js";
import { createSource } from "../../src/ingest/create-source.js";
import { type Operation, operations } from "../../src/transport/operations.js";
import type { Target } from "./target.js";

type ConnectNodeTarget = Extract<Target, { server: "connect-node" }>;

export async function startConnectNode({ snapshot, version }: ConnectNodeTarget): Promise<string> {
  const served = await createOperations(snapshot);
  const handler = connectNodeAdapter({
    routes(router) {
      for (const { method, call } of served) router.rpc(method, async (request) => (await call(request)).message());
    },
  });
  const server = version === 1 ? http.createServer(handler) : http2.createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const fail = (defect: unknown, rpc?: string): never => {
  throw new Error(`${rpc} failed`, { cause: defect });
};

async function createOperations(snapshot: string): Promise<Operation[]> {
  const read = readConfig(["--snapshot", snapshot], {});
  if (!read.ok) throw new Error(read.errors.join("\n"));
  const registry = await loadRegistry(read.config);
  const source = createSource(
    await sourceOptions(read.config),
    { mirrors: true, answers: true },
    registry.templates,
    Date.now,
  );
  await source.start({ info: () => undefined, warn: () => undefined, error: () => undefined });
  const executor = new QueryExecutor(registry, source.reader, source, Date.now);
  const bindings = services(executor, {
    overrides: new Map(),
    countsHoldings: false,
    openApi: createRequire(import.meta.url)("#openapi.json") as JsonObject,
    notReadyReason: () => undefined,
  });
  return operations(bindings, fail, { depth: read.config.maxArgumentDepth, keys: read.config.maxArgumentKeys });
}
