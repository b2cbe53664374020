/** The standard services alone, on a real port, with a state that a test sets. */
import type { DescService } from "@bufbuild/protobuf";
import type { Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { fastify } from "fastify";
import { onTestFinished } from "vitest";
import { BurnService } from "../../../gen/offledger/burn/v0/burn_service_pb.js";
import { HealthService } from "../../../gen/offledger/health/v1/health_service_pb.js";
import type { StreamLimits } from "../../../src/transport/connect/streams/limits.js";
import { standardServices } from "../../../src/transport/connect/standard-services.js";
import { recordRequests } from "../../../src/transport/middleware/record-requests.js";
import { Listener } from "../../../src/transport/listener/listener.js";
import { defaultOptions } from "../../fixtures/server-options.js";

export const served: readonly DescService[] = [HealthService, BurnService];

/** A transport for each protocol and version of HTTP over which the answer may be a stream. */
export const transports: Readonly<Record<string, (baseUrl: string) => Transport>> = {
  gRPC: (baseUrl) => createGrpcTransport({ baseUrl }),
  "gRPC-Web over HTTP/1.1": (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "1.1" }),
  "gRPC-Web over HTTP/2": (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "2" }),
  "Connect over HTTP/1.1": (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "1.1" }),
  "Connect over HTTP/2": (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "2", useBinaryFormat: true }),
};

export interface Standing {
  readonly url: string;
  /** Why the service is not ready; to be set by the test. */
  reason: string | undefined;
  /** How often it was looked whether the service is ready. */
  looks: number;
  /** What was reported as a defect. */
  readonly defects: unknown[];
  close(): Promise<void>;
}

/** Serves until the test is over. */
export async function stand(limits: Partial<StreamLimits> = {}): Promise<Standing> {
  const listener = new Listener(defaultOptions.connections);
  const server = fastify({ serverFactory: listener.factory });
  recordRequests(server, []);
  const defects: unknown[] = [];
  const standing = { reason: undefined as string | undefined, looks: 0, defects };
  const notReadyReason = () => {
    standing.looks++;
    return standing.reason;
  };
  const report = (defect: unknown) => defects.push(defect);
  await server.register(
    standardServices({ services: served, notReadyReason, report, limits: { lookMs: 5, ...limits } }),
  );
  server.addHook("preClose", (done) => {
    listener.drain((_request, response) => response.writeHead(503).end());
    done();
  });
  const url = await server.listen({ host: "127.0.0.1", port: 0 });
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= server.close());
  onTestFinished(async () => {
    const timer = setTimeout(() => listener.destroy(), 2_000);
    await close();
    clearTimeout(timer);
  });
  return Object.assign(standing, { url, close });
}
