/** A plugin that a guard registers takes part in the lifecycle of every request, by whatever protocol. */
import { createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import type { FastifyInstance } from "fastify";
import { beforeAll, afterAll, expect, onTestFinished, test } from "vitest";
import { BurnService } from "../../../gen/offledger/burn/v0/burn_service_pb.js";
import { createServer, type Server } from "../../../src/transport/server.js";
import { grpcHeaders } from "../../fixtures/error-details.js";
import { bindPartial } from "../../fixtures/partial-service.js";
import { TEST_SERVER_OPTIONS } from "../../fixtures/server-options.js";
import { until } from "../../fixtures/wait.js";

const counts = { onRequest: 0, preHandler: 0, onSend: 0, onResponse: 0 };
let server: Server;
let url: string;

async function plugin(instance: FastifyInstance): Promise<void> {
  instance.addHook("onRequest", async () => void counts.onRequest++);
  instance.addHook("preHandler", async () => void counts.preHandler++);
  instance.addHook("onSend", async (_request, reply) => {
    counts.onSend++;
    reply.header("x-sent", "yes");
  });
  instance.addHook("onResponse", async () => void counts.onResponse++);
}

const answer = () => ({ choiceContextData: {}, disclosedContracts: [] });

beforeAll(async () => {
  server = await createServer([bindPartial(BurnService, { getBurnOfferCancelContext: answer })], {
    ...TEST_SERVER_OPTIONS,
    guards: [async (instance) => plugin(instance)],
  });
  url = await server.listen("127.0.0.1", 0);
});
afterAll(() => server.close(100));

async function callBy(transport: Transport): Promise<Headers> {
  let headers = new Headers();
  const client = createClient(BurnService, transport);
  await client.getBurnOfferCancelContext({ burnOfferId: "a" }, { onHeader: (received) => (headers = received) });
  return headers;
}

/** None of them accepts compression: connect-es serves compressed calls. */
const encoding = { acceptCompression: [] };
const rest = "/api/utilities/v0/registry/burn/v0/offer/a/choice-contexts/cancel";
const all = { onRequest: 1, preHandler: 1, onSend: 1, onResponse: 1 };

test.each<[string, () => Promise<Headers>, typeof all]>([
  ["REST", async () => (await fetch(url + rest, { method: "POST" })).headers, all],
  ["Connect", () => callBy(createConnectTransport({ baseUrl: url, httpVersion: "1.1", ...encoding })), all],
  [
    "Connect over HTTP/2, binary",
    () => callBy(createConnectTransport({ baseUrl: url, httpVersion: "2", useBinaryFormat: true, ...encoding })),
    all,
  ],
  ["gRPC", () => callBy(createGrpcTransport({ baseUrl: url, ...encoding })), all],
  [
    "gRPC-Web, which connect-es answers",
    () => callBy(createGrpcWebTransport({ baseUrl: url, httpVersion: "1.1", ...encoding })),
    { ...all, onSend: 0 },
  ],
])("%s", async (_protocol, call, expected) => {
  Object.assign(counts, { onRequest: 0, preHandler: 0, onSend: 0, onResponse: 0 });
  const headers = await call();
  await until("the response is over", () => counts.onResponse > 0);
  expect(counts).toEqual(expected);
  expect(headers.get("x-sent")).toBe(expected.onSend === 0 ? null : "yes");
});

const rpc = `/${BurnService.typeName}/GetBurnOfferCancelContext`;

test.each<[string, (base: string) => Promise<readonly [isRejected: boolean, sent: unknown]>]>([
  [
    "REST",
    async (base) => {
      const { status, headers } = await fetch(base + rest, { method: "POST" });
      return [status === 429, headers.get("x-sent")];
    },
  ],
  [
    "Connect",
    async (base) => {
      const init = { method: "POST", headers: { "content-type": "application/json" }, body: '{"burnOfferId":"a"}' };
      const { status, headers } = await fetch(base + rpc, init);
      return [status === 429, headers.get("x-sent")];
    },
  ],
  [
    "gRPC",
    async (base) => {
      const headers = await grpcHeaders(base, rpc, Buffer.from("\n\u0001a"), {});
      return [headers["grpc-status"] === "8", headers["x-sent"]];
    },
  ],
])("onSend runs on a rejection over %s", async (_protocol, call) => {
  const { middleware } = TEST_SERVER_OPTIONS;
  const limited = await createServer([bindPartial(BurnService, { getBurnOfferCancelContext: answer })], {
    ...TEST_SERVER_OPTIONS,
    middleware: { ...middleware, rates: { perClient: 1, inAll: 0 } },
    gate: async (instance) => plugin(instance),
  });
  onTestFinished(() => limited.close(100));
  const base = await limited.listen("127.0.0.1", 0);
  let rejection: unknown;
  for (let calls = 0; calls < 20 && rejection === undefined; calls++) {
    const [isRejected, sent] = await call(base);
    if (isRejected) rejection = sent;
  }
  expect(rejection).toBe("yes");
});
