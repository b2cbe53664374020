/** Load shedding on real connections. Handlers block the event loop themselves, so the tests do not depend on the speed of the machine. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { Agent } from "node:http";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { BurnService } from "../../../gen/offledger/burn/v0/burn_service_pb.js";
import { HealthService } from "../../../gen/offledger/health/v1/health_service_pb.js";
import { createServer } from "../../../src/transport/server.js";
import { bindPartial } from "../../fixtures/partial-service.js";
import { serveFile } from "../../fixtures/run-service.js";
import { until } from "../../fixtures/wait.js";
import { TEST_SERVER_OPTIONS } from "../../fixtures/server-options.js";

/** How long each handler blocks. */
const WORK_MS = 20;
const MAX_DELAY_MS = 100;
const OVERLOADED = "server overloaded; retry later";

const pathOf = (id: string): string => `/api/utilities/v0/registry/burn/v0/offer/${id}/choice-contexts/cancel`;

function block(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}

const blockEachRequest = () => block(200);

/** Starts a server whose handlers block, except for health. */
async function startBlockingServer(maxDelayMs = MAX_DELAY_MS) {
  let handled = 0;
  const bindings = [
    bindPartial(BurnService, {
      getBurnOfferCancelContext: () => {
        handled++;
        block(WORK_MS);
        return { choiceContextData: {}, disclosedContracts: [] };
      },
    }),
    bindPartial(HealthService, { getLiveness: () => ({ status: "ok" }) }),
  ];
  const server = await createServer(bindings, {
    ...TEST_SERVER_OPTIONS,
    middleware: { ...TEST_SERVER_OPTIONS.middleware, maxDelayMs },
  });
  onTestFinished(() => server.close(100));
  return { url: await server.listen("127.0.0.1", 0), handled: () => handled };
}

const send = (url: string, id = "a") => fetch(url + pathOf(id), { method: "POST" });

/** Opens connections and keeps them: the event loop accepts one new connection per tick, so requests on new ones do not share a tick. */
async function openConnections(url: string, count: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, async () => (await fetch(`${url}/livez`)).text()));
}

test("of many concurrent requests the first are handled and the rest rejected with Retry-After", async () => {
  const { url, handled } = await startBlockingServer();
  await send(url);
  await openConnections(url, 100);
  const responses = await Promise.all(Array.from({ length: 100 }, () => send(url)));
  const rejected = responses.filter(({ status }) => status === 503);
  // All of them would take two seconds. Five fit into the maximum delay, in each of the few ticks in which they arrive.
  expect(rejected.length).toBeGreaterThan(20);
  expect(responses.filter(({ status }) => status === 200)).toHaveLength(100 - rejected.length);
  // Handlers do not run for rejected requests.
  expect(handled()).toBe(1 + 100 - rejected.length);
  for (const response of rejected) {
    expect(response.headers.get("retry-after")).toBe("1");
    expect(await response.json()).toEqual({ error: "unavailable", error_description: OVERLOADED });
  }
  await until("requests are handled again", async () => (await send(url)).status === 200);
});

test("OFFLEDGER_MAX_DELAY_MS sets the maximum delay", async () => {
  const running = await serveFile(undefined, { config: { maxDelayMs: 1_000 } });
  onTestFinished(() => running.close());
  await openConnections(running.url, 12);
  subscribe("http.server.request.start", blockEachRequest);
  onTestFinished(() => void unsubscribe("http.server.request.start", blockEachRequest));
  const requests = Array.from({ length: 12 }, () => running.get("/api/utilities/v0/operator"));
  const statuses = (await Promise.all(requests)).map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([200, 503]));
});

test("a maximum delay of 0 rejects no request", async () => {
  const { url } = await startBlockingServer(0);
  await openConnections(url, 40);
  const responses = await Promise.all(Array.from({ length: 40 }, () => send(url)));
  expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200));
});

test("health requests are answered in an overload", async () => {
  const { url } = await startBlockingServer();
  await openConnections(url, 90);
  const load = Array.from({ length: 60 }, () => send(url));
  const probes = await Promise.all(Array.from({ length: 30 }, () => fetch(`${url}/livez`)));
  expect(probes.map(({ status }) => status)).toEqual(probes.map(() => 200));
  expect((await Promise.all(load)).some(({ status }) => status === 503)).toBe(true);
});

const agent = new Agent({ keepAlive: true });
afterAll(() => agent.destroy());

test.each([
  ["Connect", (baseUrl: string) => createConnectTransport({ baseUrl, httpVersion: "1.1", nodeOptions: { agent } })],
  ["Connect over HTTP/2", (baseUrl: string) => createConnectTransport({ baseUrl, httpVersion: "2" })],
  ["gRPC", (baseUrl: string) => createGrpcTransport({ baseUrl })],
  ["gRPC-Web", (baseUrl: string) => createGrpcWebTransport({ baseUrl, httpVersion: "1.1", nodeOptions: { agent } })],
])("%s: a rejected request is unavailable, with Retry-After", async (_name, createTransport) => {
  const { url } = await startBlockingServer();
  const client = createClient(BurnService, createTransport(url));
  const health = createClient(HealthService, createTransport(url));
  await Promise.all(Array.from({ length: 60 }, () => health.getLiveness({})));
  const requests = Array.from({ length: 60 }, () => client.getBurnOfferCancelContext({ burnOfferId: "a" }));
  const rejected = (await Promise.allSettled(requests)).filter(({ status }) => status === "rejected");
  expect(rejected.length).toBeGreaterThan(5);
  for (const { reason } of rejected as PromiseRejectedResult[]) {
    expect(reason).toMatchObject({ code: 14, rawMessage: OVERLOADED });
    expect((reason as { metadata: Headers }).metadata.get("retry-after")).toBe("1");
  }
});
