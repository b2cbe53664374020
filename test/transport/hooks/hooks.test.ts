/** What hooks do for every request: those of guards, by each protocol; CORS; the form of paths. */
import { createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import type { FastifyInstance } from "fastify";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { BurnService } from "../../../gen/offledger/burn/v0/burn_service_pb.js";
import { createServer, type Server } from "../../../src/transport/server.js";
import { transferBody, transferFactory } from "../../fixtures/authenticated-calls.js";
import { grpcHeaders } from "../../fixtures/error-details.js";
import { AUDIENCE, ISSUER, Key, JwksServer } from "../../fixtures/issuer.js";
import { bindPartial } from "../../fixtures/partial-service.js";
import { type Running, serveFile } from "../../fixtures/run-service.js";
import { TEST_SERVER_OPTIONS } from "../../fixtures/server-options.js";
import { until } from "../../fixtures/wait.js";

const answer = () => ({ choiceContextData: {}, disclosedContracts: [] });
async function callBy(transport: Transport): Promise<Headers> {
  let headers = new Headers();
  const client = createClient(BurnService, transport);
  await client.getBurnOfferCancelContext({ burnOfferId: "a" }, { onHeader: (received) => (headers = received) });
  return headers;
}
/** Node.js's fetch sends Origin, unlike those of browsers. */
async function send(to: Running, method: string, path: string, headers: Record<string, string>, body = "") {
  const response = await fetch(to.url + path, { method, headers, ...(body !== "" && { body }) });
  return { status: response.status, headers: Object.fromEntries(response.headers), body: await response.text() };
}
const listed = (value: string | undefined): string[] => (value ?? "").toLowerCase().split(/, */);
const get = (to: Running) => send(to, "GET", "/api/utilities/v0/operator", {});

describe("a plugin that a guard registers takes part in the lifecycle of every request", () => {
  const counts = { onRequest: 0, preHandler: 0, onSend: 0, onResponse: 0 };
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
    server = await createServer([bindPartial(BurnService, { getBurnOfferCancelContext: answer })], {
      ...TEST_SERVER_OPTIONS,
      guards: [async (instance) => plugin(instance)],
    });
    url = await server.listen("127.0.0.1", 0);
  });
  afterAll(() => server.close(100));

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
    expect(headers.get("x-seen")).toBe("yes");
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
    const { hooks } = TEST_SERVER_OPTIONS;
    const limited = await createServer([bindPartial(BurnService, { getBurnOfferCancelContext: answer })], {
      ...TEST_SERVER_OPTIONS,
      hooks: { ...hooks, rates: { perClient: 1, inAll: 0 } },
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
});

describe("CORS", () => {
  const PAGE = "https://wallet.example";
  const OTHER = "https://other.example";
  const rpc = "/offledger.operator.v0.OperatorService/GetOperator";
  let publisher: JwksServer;

  const SENT =
    "authorization content-type if-none-match offledger-if-none-match accept-encoding content-encoding connect-protocol-version connect-timeout-ms x-grpc-web " +
    "x-user-agent grpc-timeout traceparent tracestate baggage x-request-id";

  let any: Running;
  let none: Running;
  let some: Running;
  let guarded: Running;
  beforeAll(async () => {
    publisher = new JwksServer([await Key.make("first")]);
    await publisher.open();
    any = await serveFile(undefined);
    none = await serveFile(undefined, { config: { corsOrigins: "none" } });
    some = await serveFile(undefined, { config: { corsOrigins: [PAGE, "http://localhost:3000"] } });
    const auth = { authJwksUrl: publisher.url, authIssuer: ISSUER, authAudience: AUDIENCE };
    guarded = await serveFile(undefined, { config: auth });
  });
  afterAll(async () => {
    for (const running of [any, none, some, guarded]) await running.close();
    await publisher.close();
  });

  type Received = Readonly<Record<string, string>>;

  const preflight = (to: Running, path: string, origin = PAGE, method = "POST") =>
    send(to, "OPTIONS", path, {
      origin,
      "access-control-request-method": method,
      "access-control-request-headers": "authorization,content-type",
    });
  const json = { "content-type": "application/json" };
  /** The request headers on which a response depends, besides the one of compression. */
  const varies = ({ vary }: Received): string[] =>
    vary === undefined ? [] : listed(vary).filter((name) => name !== "accept-encoding");

  test.each([transferFactory, rpc, "/nothing", "/"])("a preflight of %s succeeds without a token", async (path) => {
    for (const to of [any, guarded]) {
      const { status, headers, body } = await preflight(to, path);
      expect({ status, body }).toEqual({ status: 204, body: "" });
      expect(headers["access-control-allow-origin"]).toBe("*");
      expect(listed(headers["access-control-allow-methods"])).toEqual(["get", "head", "post"]);
      expect(headers["access-control-max-age"]).toBe("7200");
      expect(headers["access-control-allow-credentials"]).toBeUndefined();
      expect(headers["vary"]).toBeUndefined();
    }
  });

  test("a preflight allows the headers that clients send", async () => {
    const { headers } = await preflight(any, rpc);
    const allowed = listed(headers["access-control-allow-headers"]);
    for (const name of SENT.split(" ")) {
      expect(allowed).toContain(name);
    }
    expect(new Set(allowed).size).toBe(allowed.length);
    expect(allowed).not.toContain("cookie");
  });

  test.each([{ origin: PAGE }, { "access-control-request-method": "POST" }])(
    "OPTIONS with %j is not a preflight and gets 405",
    async (headers: Record<string, string>) => {
      const { status, headers: received, body } = await send(any, "OPTIONS", transferFactory, headers);
      expect({ status, allow: received["allow"] }).toEqual({ status: 405, allow: "POST" });
      expect(JSON.parse(body)).toEqual({ error: expect.stringContaining("must be POST, but is OPTIONS") });
    },
  );

  const exposed = [
    "grpc-status",
    "grpc-message",
    "grpc-status-details-bin",
    "retry-after",
    "www-authenticate",
    "date",
    "etag",
    ...["generation", "offset", "record-time", "tags", "valid-until", "not-modified"].map(
      (name) => `offledger-${name}`,
    ),
  ];

  test.each([
    ["REST", "POST", transferFactory, json, JSON.stringify(transferBody), 200],
    ["invalid REST", "POST", transferFactory, json, "{", 400],
    ["an unknown path", "POST", "/nothing", json, "{}", 404],
    ["Connect", "POST", rpc, json, "{}", 200],
    ["gRPC-Web", "POST", rpc, { "content-type": "application/grpc-web+proto" }, "\0\0\0\0\0", 200],
  ] as const)("a response of %s can be read", async (_title, method, path, headers, body, expected) => {
    const response = await send(any, method, path, { origin: PAGE, ...headers }, body);
    expect(response.status).toBe(expected);
    expect(response.headers["access-control-allow-origin"]).toBe("*");
    for (const name of exposed) expect(listed(response.headers["access-control-expose-headers"])).toContain(name);
  });

  test.each([
    ["REST", transferFactory, json, 401],
    ["Connect", rpc, json, 401],
    ["gRPC-Web", rpc, { "content-type": "application/grpc-web+proto" }, 200],
  ] as const)("a rejection of %s can be read", async (_title, path, headers, status) => {
    const response = await send(guarded, "POST", path, { origin: PAGE, ...headers }, "{}");
    expect(response.status).toBe(status);
    expect(response.headers["access-control-allow-origin"]).toBe("*");
    expect(response.headers["www-authenticate"]).toContain("Bearer");
  });

  test("a response without an origin has the headers that caches need", async () => {
    expect((await get(any)).headers).toMatchObject({ "access-control-allow-origin": "*" });
    expect((await get(some)).headers["vary"]).toBe("Origin, accept-encoding");
  });

  test("a listed origin is allowed", async () => {
    for (const origin of [PAGE, "http://localhost:3000"])
      for (const response of [
        await preflight(some, rpc, origin),
        await send(some, "POST", rpc, { origin, ...json }, "{}"),
        await send(some, "GET", "/api/utilities/v0/operator", { origin }),
        await send(some, "GET", "/nothing", { origin }),
      ]) {
        expect(response.headers).toMatchObject({ "access-control-allow-origin": origin });
        expect(varies(response.headers)).toEqual(["origin"]);
      }
  });

  test.each([OTHER, "null", `${PAGE}.evil.example`, "http://wallet.example", `${PAGE}:444`])(
    "%s is not listed",
    async (origin) => {
      for (const response of [
        await preflight(some, rpc, origin),
        await send(some, "POST", rpc, { origin, ...json }, "{}"),
        await send(some, "GET", "/api/utilities/v0/operator", { origin }),
      ]) {
        expect(response.headers["access-control-allow-origin"]).toBeUndefined();
        expect(varies(response.headers)).toEqual(["origin"]);
      }
    },
  );
  test("'none' sends no CORS headers", async () => {
    for (const response of [
      await preflight(none, rpc),
      await preflight(none, transferFactory),
      await send(none, "POST", rpc, { origin: PAGE, ...json }, "{}"),
      await send(none, "GET", "/api/utilities/v0/operator", { origin: PAGE }),
    ]) {
      const names = Object.keys(response.headers).filter((name) => name.startsWith("access-control"));
      expect([...names, ...varies(response.headers)]).toEqual([]);
    }
  });

  test.each([
    "/api/utilities/v0/contract/instrument-configuration/",
    "//api/utilities/v0//contract/instrument-configuration",
    "/%61pi/utilities/v0/contract/instrument-configuration",
  ])("%s reaches the same operation, with its form of errors", async (path) => {
    const { status, body } = await send(any, "POST", path, json, "{}");
    const error_description = "registrar: must be at least 1 characters; instrumentIdentifier: value is required";
    expect([status, JSON.parse(body)]).toEqual([400, { error: "invalid_argument", error_description }]);
  });
});
