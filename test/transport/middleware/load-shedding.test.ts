/** More than can be answered in time, on real connections: some are answered, the rest is refused at once. */
import { Agent } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { BurnService } from "../../../gen/offledger/burn/v0/burn_service_pb.js";
import { HealthService } from "../../../gen/offledger/health/v1/health_service_pb.js";
import { DEFAULT_MIDDLEWARE } from "../../../src/transport/middleware/middleware.js";
import { createServer } from "../../../src/transport/server.js";
import { offerSome } from "../../fixtures/offering.js";
import { serveFile } from "../../fixtures/run-service.js";

/** How long one answer takes, all of it work, and the longest delay. */
const WORK_MS = 20;
const MOST_MS = 100;

const pathOf = (id: string): string => `/api/utilities/v0/registry/burn/v0/offer/${id}/choice-contexts/cancel`;

function work(): object {
  const until = performance.now() + WORK_MS;
  while (performance.now() < until);
  return { choiceContextData: {}, disclosedContracts: [] };
}

/** A server whose answers are work, and whose health is not. Gives its URL, and how many answers it has made. */
async function busy(maxDelayMs = MOST_MS) {
  let made = 0;
  const bindings = [
    offerSome(BurnService, {
      getBurnOfferCancelContext: () => {
        made++;
        return work();
      },
    }),
    offerSome(HealthService, { getLiveness: () => ({ status: "ok" }) }),
  ];
  const server = await createServer(bindings, {
    logLevel: "silent",
    openApi: {},
    edge: { ...DEFAULT_MIDDLEWARE, maxDelayMs },
  });
  onTestFinished(() => server.close(100));
  return { url: await server.listen("127.0.0.1", 0), made: () => made };
}

const ask = (url: string, id = "a") => fetch(url + pathOf(id), { method: "POST" });

/** Opens so many connections, which are kept: of new ones the event loop takes one in each turn, so that nobody waits for another here. */
async function connected(url: string, count: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, async () => (await fetch(`${url}/livez`)).text()));
}

test("of many at once the first are answered, and the rest refused with the time to ask again", async () => {
  const { url, made } = await busy();
  await ask(url);
  await connected(url, 100);
  const answers = await Promise.all(Array.from({ length: 100 }, () => ask(url)));
  const refused = answers.filter(({ status }) => status === 503);
  // A hundred would take two seconds of work; what fits in the longest delay is five, with some for each look at the connections.
  expect(refused.length).toBeGreaterThan(20);
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(100 - refused.length);
  // What is refused is not worked on.
  expect(made()).toBe(1 + 100 - refused.length);
  for (const answer of refused) {
    expect(answer.headers.get("retry-after")).toBe("1");
    expect(await answer.json()).toEqual({
      error: "unavailable",
      error_description: "server overloaded; retry later",
    });
  }
  // And afterwards all is as before.
  expect((await ask(url)).status).toBe(200);
});

test("one behind the other nobody is refused, however long it lasts", async () => {
  const { url } = await busy();
  for (let time = 0; time < 80; time++) expect((await ask(url)).status).toBe(200);
});

test("the service refuses by its setting", async () => {
  const running = await serveFile(undefined, { config: { maxDelayMs: 1 } });
  onTestFinished(() => running.close());
  await connected(running.url, 200);
  const asked = Array.from({ length: 200 }, () => running.get("/api/utilities/v0/operator"));
  const statuses = (await Promise.all(asked)).map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([200, 503]));
});

test("nobody is refused where it is turned off", async () => {
  const { url } = await busy(0);
  await connected(url, 40);
  const answers = await Promise.all(Array.from({ length: 40 }, () => ask(url)));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
});

test("whoever asks for the health is answered in an overload", async () => {
  const { url } = await busy();
  await connected(url, 90);
  const load = Array.from({ length: 60 }, () => ask(url));
  const healths = await Promise.all(Array.from({ length: 30 }, () => fetch(`${url}/livez`)));
  expect(healths.map(({ status }) => status)).toEqual(healths.map(() => 200));
  expect((await Promise.all(load)).some(({ status }) => status === 503)).toBe(true);
});

test("an overload that lasts leaves a small part of the wait to those who are answered", async () => {
  const { url } = await busy(200);
  const until = performance.now() + 4_000;
  const begun = performance.now();
  const [early, late]: [number[], number[]] = [[], []];
  /** Asks again and again, as thirty callers do who do not know of each other. */
  const caller = async () => {
    while (performance.now() < until) {
      const sent = performance.now();
      const { status } = await ask(url);
      const [now, list] = [performance.now(), performance.now() - begun < 1_000 ? early : late];
      if (status === 200) list.push(now - sent);
      else await sleep(10);
    }
  };
  await Promise.all(Array.from({ length: 30 }, caller));

  expect(late.length).toBeGreaterThan(20);
  expect(middle(late)).toBeLessThan(middle(early) / 2);
  // When nobody asks any more it is over, and what comes at once is a burst again.
  await sleep(100);
  const burst = await Promise.all(Array.from({ length: 6 }, () => ask(url)));
  expect(burst.map(({ status }) => status)).toEqual(burst.map(() => 200));
});

const agent = new Agent({ keepAlive: true });
afterAll(() => agent.destroy());

test.each([
  ["Connect", (baseUrl: string) => createConnectTransport({ baseUrl, httpVersion: "1.1", nodeOptions: { agent } })],
  ["Connect over HTTP/2", (baseUrl: string) => createConnectTransport({ baseUrl, httpVersion: "2" })],
  ["gRPC", (baseUrl: string) => createGrpcTransport({ baseUrl })],
  ["gRPC-Web", (baseUrl: string) => createGrpcWebTransport({ baseUrl, httpVersion: "1.1", nodeOptions: { agent } })],
])("by %s a refusal is unavailable, with the time to ask again", async (_name, transportTo) => {
  const { url } = await busy();
  const client = createClient(BurnService, transportTo(url));
  const health = createClient(HealthService, transportTo(url));
  await Promise.all(Array.from({ length: 60 }, () => health.getLiveness({})));
  const asked = Array.from({ length: 60 }, () => client.getBurnOfferCancelContext({ burnOfferId: "a" }));
  const refused = (await Promise.allSettled(asked)).filter(({ status }) => status === "rejected");
  expect(refused.length).toBeGreaterThan(5);
  for (const { reason } of refused as PromiseRejectedResult[]) {
    expect(reason).toMatchObject({ code: 14, rawMessage: "server overloaded; retry later" });
    expect((reason as { metadata: Headers }).metadata.get("retry-after")).toBe("1");
  }
});

const middle = (list: readonly number[]): number => list.toSorted((a, b) => a - b)[list.length >> 1] ?? Number.NaN;
