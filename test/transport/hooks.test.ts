/** Hooks of guards run for every request by each protocol; rate limits, and how clients are identified. */
import { setTimeout as pause } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { BurnService } from "../../gen/offledger/burn/v0/burn_service_pb.js";
import type { Config } from "../../src/config/config.js";
import { clientKey } from "../../src/transport/hooks.js";
import { createServer, type Server } from "../../src/transport/server.js";
import { acme } from "../fixtures/calls/build.js";
import { callNamed } from "../fixtures/calls/index.js";
import { onIssuance } from "../fixtures/calls/operations.js";
import { type HttpResponse, requestHttp1 } from "../fixtures/http-requests.js";
import { bindPartial } from "../fixtures/partial-service.js";
import { clients } from "../fixtures/protocols.js";
import { type Form, requestForms, sendForm } from "../fixtures/requests-in-forms.js";
import { registry, serveFile } from "../fixtures/run-service.js";
import { TEST_SERVER_OPTIONS } from "../fixtures/server-options.js";
import { until } from "../fixtures/wait.js";

const getBurnOfferCancelContext = () => ({ choiceContextData: {}, disclosedContracts: [] });

describe("a plugin that a guard registers takes part in the lifecycle of every request", () => {
  const call = onIssuance("burn", "offer", "cancel", "a");
  const binding = bindPartial(BurnService, { getBurnOfferCancelContext });
  const none = { onRequest: 0, preHandler: 0, onSend: 0, onResponse: 0 };
  const counts = { ...none };
  let server: Server;
  let url: string;

  async function plugin(instance: FastifyInstance): Promise<void> {
    instance.addHook("onRequest", async (_request, reply) => {
      counts.onRequest++;
      reply.header("x-seen", "yes");
    });
    instance.addHook("preHandler", async () => void counts.preHandler++);
    instance.addHook("onSend", async (_request, reply) => {
      counts.onSend++;
      reply.header("x-sent", "yes");
    });
    instance.addHook("onResponse", async () => void counts.onResponse++);
  }
  beforeAll(async () => {
    server = await createServer([binding], { ...TEST_SERVER_OPTIONS, guards: [plugin] });
    url = await server.listen("127.0.0.1", 0);
  });
  afterAll(() => server.close(100));

  // connect-es answers gRPC-Web, and calls with a deadline.
  test.each<[Form, onSend: number]>([
    ["REST", 1],
    ["Connect JSON", 1],
    ["Connect binary", 1],
    ["gRPC", 1],
    ["gRPC-Web", 0],
    ["gRPC with a deadline", 0],
  ])("%s", async (form, onSend) => {
    Object.assign(counts, none);
    const { headers } = await sendForm(url, form, requestForms[form](call));
    await until("the response is over", () => counts.onResponse > 0);
    expect(counts).toEqual({ onRequest: 1, preHandler: 1, onSend, onResponse: 1 });
    expect([headers["x-seen"], headers["x-sent"]]).toEqual(["yes", onSend === 0 ? undefined : "yes"]);
  });

  test.each<Form>(["REST", "Connect JSON", "gRPC", "gRPC-Web"])("onSend runs on a rejection over %s", async (form) => {
    const hooks = { ...TEST_SERVER_OPTIONS.hooks, rates: { perClient: 1, inAll: 0 } };
    const limited = await createServer([binding], { ...TEST_SERVER_OPTIONS, hooks, gate: plugin });
    onTestFinished(() => limited.close(100));
    const base = await limited.listen("127.0.0.1", 0);
    await until("a request is rejected", async () => {
      const { headers } = await sendForm(base, form, requestForms[form](call));
      if (headers["retry-after"] === undefined) return false;
      expect(headers["x-sent"]).toBe("yes");
      return true;
    });
  });
});

test.each([
  "/api/utilities/v0/contract/instrument-configuration/",
  "//api/utilities/v0//contract/instrument-configuration",
  "/%61pi/utilities/v0/contract/instrument-configuration",
])("%s reaches the same operation, with its form of errors", async (path) => {
  const response = await requestHttp1(await startService({}), path, { "content-type": "application/json" }, "{}");
  const error_description = "registrar: must be at least 1 characters; instrumentIdentifier: value is required";
  expect([response.status, JSON.parse(response.body)]).toEqual([400, { error: "invalid_argument", error_description }]);
});

const LIMIT = 3;
const info = `${registry(acme)}/metadata/v1/info`;
const instruments = `${registry(acme)}/metadata/v1/instruments`;

async function startService(config: Partial<Config>): Promise<string> {
  const running = await serveFile(undefined, { config });
  onTestFinished(() => running.close());
  return running.url;
}

/** Repeats requests that did not fit into one window of the rate limit. Each attempt starts with a new window. */
async function inOneWindow<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 0; attempt < 8; attempt++) {
    if (attempt > 0) await pause(1_100);
    const begun = performance.now();
    const result = await run();
    if (performance.now() - begun < 900) return result;
  }
  throw new Error("the requests did not fit into one window in 8 attempts");
}

async function sendAll(url: string, paths: readonly string[], from?: string): Promise<HttpResponse[]> {
  const responses: HttpResponse[] = [];
  for (const path of paths)
    responses.push(await requestHttp1(url, path, from === undefined ? {} : { "x-forwarded-for": from }));
  return responses;
}
const times = <T>(count: number, what: T): T[] => Array.from({ length: count }, () => what);
const statuses = (responses: readonly HttpResponse[]): (number | undefined)[] => responses.map(({ status }) => status);

describe("rates", () => {
  test("count per client and operation; Retry-After says when", async () => {
    const url = await startService({ ratePerClient: LIMIT });
    const responses = await inOneWindow(() => sendAll(url, [...times(LIMIT + 1, info), instruments]));
    expect(statuses(responses)).toEqual([...times(LIMIT, 200), 429, 200]);
    await pause(1_100);
    expect(statuses(await sendAll(url, [info]))).toEqual([200]);
  });

  test("never reject requests for health, on any protocol", async () => {
    const url = await startService({ ratePerClient: 1, rateInAll: 1 });
    const live = callNamed("liveness");
    for (const send of Object.values(clients))
      for (let round = 0; round < 5; round++) expect(await send(url, live)).toMatchObject({ code: 0 });
  });

  test("count all clients and operations together, without what is over a client's own", async () => {
    const url = await startService({ ratePerClient: 2, rateInAll: LIMIT, trustedProxies: ["127.0.0.1"] });
    const responses = await inOneWindow(async () => [
      ...(await sendAll(url, times(8, info), "192.0.2.1")),
      ...(await sendAll(url, [instruments, info], "192.0.2.2")),
    ]);
    expect(statuses(responses)).toEqual([200, 200, ...times(6, 429), 200, 429]);
    expect(responses.at(-1)?.headers["retry-after"]).toBe("1");
    expect(responses.at(-1)?.body).toContain(`rate limit exceeded: ${LIMIT} requests per second in total`);
  });

  const behindProxy = ["127.0.0.1", "10.0.0.0/8", "2001:db8:ffff::/48"];
  test.each([
    ["behind an untrusted proxy is the peer's", ["10.0.0.1"], "192.0.2.1", "192.0.2.2", true],
    ["behind a trusted proxy is the forwarded one", behindProxy, "192.0.2.1", "192.0.2.2", false],
    ["is the last one that is no trusted proxy", behindProxy, "192.0.2.1, 10.1.2.3", "192.0.2.2, 10.1.2.3", false],
    [
      "is not spoofed by earlier entries",
      behindProxy,
      "1.1.1.1, 192.0.2.1, 10.1.2.3",
      "2.2.2.2, 192.0.2.1, 10.4.5.6",
      true,
    ],
  ] as const)("the client's address %s", async (_what, trustedProxies, first, second, isOne) => {
    const url = await startService({ ratePerClient: 1, trustedProxies });
    const responses = await inOneWindow(async () => [
      ...(await sendAll(url, [info], first)),
      ...(await sendAll(url, [info], second)),
    ]);
    expect(statuses(responses)).toEqual([200, isOne ? 429 : 200]);
  });
});

test.each([
  ["192.0.2.1", "192.0.2.1"],
  ["192.0.2.1:4711", "192.0.2.1"],
  ["::ffff:192.0.2.1", "192.0.2.1"],
  ["::ffff:c000:201", "192.0.2.1"],
  ["2001:db8:0:7::1", "2001:db8:0:7"],
  ["2001:0DB8:0000:0007:ffff:ffff:ffff:ffff", "2001:db8:0:7"],
  ["[2001:db8:0:7::1]:4711", "2001:db8:0:7"],
  ["fe80::1%eth0", "fe80:0:0:0"],
  // No IPv4-mapped address.
  ["::192.0.2.1", "0:0:0:0"],
  ["1.2.3", "unknown"],
  ["::g", "unknown"],
  ["_hidden", "unknown"],
])("the address %s is the client %s", (address, client) => expect(clientKey(address)).toBe(client));
