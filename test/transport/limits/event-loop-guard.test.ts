/** The rest of a turn of the event loop that has taken too long is refused; health is answered. */
import http from "node:http";
import http2 from "node:http2";
import { Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { BurnService } from "../../../gen/offledger/burn/v0/burn_service_pb.js";
import { health } from "../../../src/service/health.js";
import { createBudgets } from "../../../src/transport/limits.js";
import { RequestMetrics } from "../../../src/telemetry/request-metrics.js";
import { createServer } from "../../../src/transport/server.js";
import { EventLoopGuard } from "../../../src/transport/event-loop-guard.js";
import { requestHttp2 } from "../../fixtures/http-requests.js";
import { bindPartial } from "../../fixtures/partial-service.js";
import { Connection } from "../../fixtures/raw-connection.js";
import { TEST_SERVER_OPTIONS } from "../../fixtures/server-options.js";
import { until } from "../../fixtures/wait.js";

const TURN_MS = 100;
const path = (id: string) => `/api/utilities/v0/registry/burn/v0/offer/${id}/choice-contexts/cancel`;

const post = (id: string) => `POST ${path(id)} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n`;

/** The handler of "slow" takes longer than a turn may. Other work of the same turn is next to nothing. */
async function serve() {
  const reached: string[] = [];
  const binding = bindPartial(BurnService, {
    getBurnOfferCancelContext: ({ burnOfferId }) => {
      reached.push(burnOfferId);
      const begun = performance.now();
      while (burnOfferId === "slow" && performance.now() - begun < 2 * TURN_MS);
      return { values: [], disclosed: [] };
    },
  });
  const budgets = createBudgets();
  const connections = { ...TEST_SERVER_OPTIONS.connections, turnMs: TURN_MS };
  const requests = new RequestMetrics();
  const server = await createServer([binding, health(() => undefined)], {
    ...TEST_SERVER_OPTIONS,
    connections,
    budgets,
    observers: [requests.observer],
    onRefused: requests.countRefused,
  });
  const counted = async (): Promise<number> =>
    Number((await requests.byOperation()).find(({ operation }) => operation === "")?.requests);
  onTestFinished(() => server.close(100));
  return { url: await server.listen("127.0.0.1", 0), reached, budgets, counted };
}

test("over HTTP/1.1 with 503; a connection with more of them is closed", async () => {
  const { url, reached, budgets, counted } = await serve();
  const connection = await Connection.to(url);
  await connection.send(post("slow") + "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n" + post("second"));
  await connection.respond(3);
  const { responses } = connection;
  expect(responses.map(({ status }) => status)).toEqual([200, 200, 503]);
  expect(responses[1]?.body).toBe('{"status":"ok"}');
  expect(JSON.parse(responses[2]?.body ?? "")).toEqual({ error: "server overloaded; retry later" });
  expect(responses[2]?.headers).toMatch(/connection: keep-alive/i);
  expect(responses[2]?.headers).toMatch(/retry-after: 1\r\n/i);
  expect(reached).toEqual(["slow"]);
  expect([budgets.requests.refused, await counted()]).toEqual([1, 1]);
  await connection.send(post("slow") + post("second") + post("third"));
  await connection.closed();
  // Also the one that was not answered.
  expect(await counted()).toBe(3);
  expect(reached).toEqual(["slow", "slow"]);
  const later = await Connection.to(url);
  await later.send(post("later"));
  expect(await later.respond(1)).toMatchObject([{ status: 200 }]);
  await until("nothing is held", () => budgets.requests.used === 0);
});

test("over HTTP/2 with 503 for the stream, and the connection stays", async () => {
  const { url, reached, budgets, counted } = await serve();
  const session = http2.connect(url);
  onTestFinished(() => session.destroy());
  const ask = (id: string) =>
    requestHttp2(session, id === "livez" ? "/livez" : path(id), { ":method": id === "livez" ? "GET" : "POST" });
  // All are in the first bytes that the client sends.
  const ids = ["slow", "second", "livez", "third"];
  const responses = await Promise.all(ids.map(ask));
  expect(responses.map(({ status }) => status)).toEqual([200, 503, 200, 503]);
  expect(responses[1]).toMatchObject({ body: "", headers: { "retry-after": "1" } });
  expect(reached).toEqual(["slow"]);
  expect([budgets.requests.refused, await counted()]).toEqual([2, 2]);
  expect(await ask("later")).toMatchObject({ status: 200 });
  await until("nothing is held", () => budgets.requests.used === 0);
});

test("health is answered again where a turn goes on, but not at once", () => {
  const socket = new Socket();
  const handle = new EventLoopGuard(1, createBudgets().requests).limitHttp1((_request, response) => {
    response.statusCode = 204;
  });
  const ask = (url: string): number => {
    const request = new http.IncomingMessage(socket);
    request.url = url;
    const response = new http.ServerResponse(request);
    handle(request, response);
    return response.statusCode;
  };
  const pass = (ms: number): void => {
    const begun = performance.now();
    while (performance.now() - begun < ms);
  };
  expect(ask("/")).toBe(204);
  pass(2);
  expect([ask("/livez"), ask("/livez")]).toEqual([204, 503]);
  pass(100);
  expect(ask("/livez")).toBe(204);
});
