/** The standard services on a real port, with a readiness that the test sets. */
import type { DescService } from "@bufbuild/protobuf";
import type { Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { fastify } from "fastify";
import { onTestFinished } from "vitest";
import { BurnService } from "../../../gen/offledger/burn/v0/burn_service_pb.js";
import { HealthService } from "../../../gen/offledger/health/v1/health_service_pb.js";
import { rpc } from "../../../src/transport/rpc/rpc.js";
import { standardServices, type StreamLimits } from "../../../src/transport/rpc/standard-services.js";
import { ServedMethods } from "../../../src/transport/rest/no-route.js";
import { recordRequests } from "../../../src/transport/hooks.js";
import { countRequests, createBudgets } from "../../../src/transport/limits.js";
import { Sockets } from "../../../src/transport/sockets.js";
import { TEST_SERVER_OPTIONS } from "../../fixtures/server-options.js";

export const served: readonly DescService[] = [HealthService, BurnService];

/** A transport for each protocol and HTTP version with streaming responses. */
export const transports: Readonly<Record<string, (baseUrl: string) => Transport>> = {
  gRPC: (baseUrl) => createGrpcTransport({ baseUrl }),
  "gRPC-Web over HTTP/1.1": (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "1.1" }),
  "gRPC-Web over HTTP/2": (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "2" }),
  "Connect over HTTP/1.1": (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "1.1" }),
  "Connect over HTTP/2": (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "2", useBinaryFormat: true }),
};

export interface StandaloneServer {
  readonly url: string;
  /** Why the service is not ready; the test sets it. */
  reason: string | undefined;
  close(): Promise<void>;
}

/** Serves until the test ends. */
export async function startStandalone(limits: Partial<StreamLimits> = {}): Promise<StandaloneServer> {
  const budgets = createBudgets();
  const sockets = new Sockets(TEST_SERVER_OPTIONS.connections, budgets.requests);
  const server = fastify({ serverFactory: sockets.factory });
  countRequests(server, budgets);
  recordRequests(server, []);
  const state = { reason: undefined as string | undefined };
  const notReadyReason = () => state.reason;
  const standard = standardServices({
    services: served,
    notReadyReason,
    reflection: true,
    limits: { pollMs: 5, ...limits },
  });
  await server.register(rpc([], standard, undefined, 1_024 * 1_024, true, new ServedMethods()));
  server.addHook("preClose", () => sockets.goAway());
  const url = await server.listen({ host: "127.0.0.1", port: 0 });
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= server.close());
  onTestFinished(async () => {
    const timer = setTimeout(() => sockets.destroy(), 2_000);
    await close();
    clearTimeout(timer);
  });
  return Object.assign(state, { url, close });
}
