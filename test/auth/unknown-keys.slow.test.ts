/** A flood of tokens that name unknown keys: it costs the issuer few requests, and the other callers nothing. */
import http2 from "node:http2";
import { Agent, request as requestHttp } from "node:http";
import { afterEach, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { OperatorService } from "../../gen/offledger/operator/v0/operator_service_pb.js";
import { bearerAuthentication } from "../../src/auth/bearer-authentication.js";
import { DEFAULT_KEY_FETCH_LIMITS, type KeyFetchLimits } from "../../src/auth/issuer-keys.js";
import { VERIFICATION_LIMITS } from "../../src/auth/token-verifier.js";
import { createServer } from "../../src/transport/server.js";
import { AUDIENCE, ISSUER, type JwksReply, JwksServer, Key, NOW } from "../fixtures/issuer.js";
import { bindPartial } from "../fixtures/partial-service.js";
import { TEST_SERVER_OPTIONS } from "../fixtures/server-options.js";
import { until } from "../fixtures/wait.js";

const CONNECTIONS = 32;
const HONEST = 192;

const [known, rotated] = await Promise.all([Key.make("known"), Key.make("rotated")]);
const OPERATION = `${OperatorService.typeName}/GetOperator`;

let unknownTokens: string[] = [];
beforeAll(async () => {
  unknownTokens = await Promise.all(Array.from({ length: 64 }, (_, id) => known.sign({}, { kid: `made up ${id}` })));
});

let agents: Agent[] = [];
afterEach(() => {
  for (const agent of agents) agent.destroy();
  agents = [];
});

/** Requests over `connections` connections, each of which sends one at a time. */
function createCaller(url: string, connections: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  agents.push(agent);
  return (token: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const sent = requestHttp(`${url}/api/utilities/v0/operator`, {
        agent,
        headers: { authorization: `Bearer ${token}` },
      });
      sent.once("response", (response) => {
        response.resume().once("end", () => resolve(response.statusCode ?? 0));
      });
      sent.once("error", reject).end();
    });
}

/** A service that has the key of an issuer, which from then on replies otherwise. */
async function start(later: JwksReply, limits: Partial<KeyFetchLimits>) {
  const { issuer, url } = await serve([known], limits);
  const call = createCaller(url, 8);
  await until("the key is known", async () => (await call(await known.sign({ jti: "first" }))) === 200);
  issuer.published = later;
  return { issuer, url, call };
}

async function serve(published: JwksReply, limits: Partial<KeyFetchLimits>) {
  const issuer = new JwksServer(published);
  await issuer.open();
  const authentication = bearerAuthentication({
    jwksUrl: issuer.url,
    issuer: ISSUER,
    audience: AUDIENCE,
    algorithms: ["RS256"],
    keyFetchLimits: { ...DEFAULT_KEY_FETCH_LIMITS, ...limits },
    now: () => Date.parse(NOW),
    operations: new Set([OPERATION]),
  });
  const service = bindPartial(OperatorService, { getOperator: async () => ({ partyId: "operator" }) });
  const server = await createServer([service], { ...TEST_SERVER_OPTIONS, guards: [authentication] });
  const url = await server.listen("127.0.0.1", 0);
  onTestFinished(async () => {
    await server.close(100);
    await issuer.close();
  });
  return { issuer, url };
}

const unknownToken = (index: number): string => unknownTokens[index % unknownTokens.length] ?? "";

/** How often each status occurs. */
function counts(statuses: readonly number[]): Record<number, number> {
  const found: Record<number, number> = {};
  for (const status of statuses) found[status] = (found[status] ?? 0) + 1;
  return found;
}

const COOLDOWN_MS = 500;

describe.each<[string, JwksReply]>([
  ["replies", [known]],
  ["does not reply", "silence"],
  ["replies with an error", { status: 500, body: "" }],
])("while the issuer %s", (_title, later) => {
  test("the flood gets 401 and triggers one request in a cooldown; other callers get 200", async () => {
    // A request without a reply lasts until the end of the test.
    const limits = { cooldownMs: COOLDOWN_MS, retryMs: 0, responseMs: 600_000 };
    const { issuer, url, call } = await start(later, limits);
    const honest = await Promise.all(Array.from({ length: HONEST }, (_, id) => known.sign({ jti: String(id) })));
    const startedAt = performance.now();
    const flood = createCaller(url, CONNECTIONS);
    const flooded: number[] = [];
    let isOver = false;
    const workers = Array.from({ length: CONNECTIONS }, async (_, worker) => {
      for (let sent = worker; !isOver; sent += CONNECTIONS) flooded.push(await flood(unknownToken(sent)));
    });
    // A caller whose token triggers a request waits for it, so it may get no answer before the service is closed.
    for (const one of workers) one.catch(() => {});
    await until("the issuer is asked", () => issuer.requestCount > 1);
    const answered = await Promise.all(honest.map(call));
    await until("the flood is answered", () => flooded.length > 10 * CONNECTIONS);
    isOver = true;
    const triggered = issuer.requestCount - 1;
    const cooldowns = (performance.now() - startedAt) / COOLDOWN_MS;

    expect(counts(answered)).toEqual({ 200: HONEST });
    // Those that trigger a request get 503 where it fails.
    const { 401: rejected = 0, 503: failed = 0, ...others } = counts(flooded);
    expect(others).toEqual({});
    expect(rejected).toBeGreaterThan(10 * CONNECTIONS - 10);
    expect(failed).toBeLessThanOrEqual(triggered);
    expect(triggered).toBeLessThanOrEqual(later === "silence" ? 1 : cooldowns + 1);
  });
});

test("a key that the issuer adds is found by the first request after the cooldown", async () => {
  const { issuer, url } = await start([known, rotated], { cooldownMs: COOLDOWN_MS, retryMs: 0 });
  const call = createCaller(url, 1);
  const token = await rotated.sign();
  const statuses: number[] = [];
  await until("the new key is known", async () => {
    statuses.push(await call(token));
    return statuses.at(-1) === 200;
  });
  expect(new Set(statuses.slice(0, -1)).size).toBeLessThanOrEqual(1);
  expect(statuses.slice(0, -1).every((status) => status === 401)).toBe(true);
  expect(issuer.requestCount).toBe(2);
});

test("tokens beyond those that may wait get 503 with Retry-After, of each connection as many", async () => {
  const { url } = await serve("silence", { responseMs: 600_000 });
  const { perKey, waiting } = VERIFICATION_LIMITS;
  const perConnection = 256;
  const connections = 6;
  const responses: { readonly connection: number; readonly head: http2.IncomingHttpHeaders }[] = [];
  for (let connection = 0; connection < connections; connection++) {
    const session = http2.connect(url);
    onTestFinished(() => session.destroy());
    session.on("error", () => {});
    for (let index = 0; index < perConnection; index++) {
      const authorization = `Bearer ${unknownToken(index)}`;
      const stream = session.request({ ":path": "/api/utilities/v0/operator", authorization });
      stream.on("error", () => {}).on("response", (head) => responses.push({ connection, head }));
    }
  }
  const refused = connections * perConnection - connections * perKey - waiting;
  await until("the rest is refused", () => responses.length >= refused);
  expect(responses).toHaveLength(refused);
  for (const { head } of responses) expect(head).toMatchObject({ ":status": 503, "retry-after": "1" });
  const byConnection = Object.values(counts(responses.map(({ connection }) => connection)));
  expect(byConnection).toHaveLength(connections);
  // Each lost its last ones to the others.
  expect(Math.max(...byConnection) - Math.min(...byConnection)).toBeLessThanOrEqual(2);
});
