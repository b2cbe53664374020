/** Replicas at one offset answer equally, byte for byte, and like a service in memory. */
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { type App, startApp } from "../../../src/app/app.js";
import type { Config } from "../../../src/config/config.js";
import type { Roles } from "../../../src/ingest/database-source.js";
import type { JsonObject } from "../../../src/domain/json.js";
import {
  account,
  allInstrumentConfigurations,
  instrumentConfiguration,
  leg,
  reject,
  settlement,
  settlementFactory,
  transferChoice,
  transferFactory,
  transferFactoryV2,
  transferV1,
  transferV2,
} from "../../fixtures/requests.js";
import { parties } from "../../fixtures/elements.js";
import { freshDatabase } from "../../fixtures/postgres.js";
import { quiet, registry } from "../../fixtures/run-service.js";
import { until } from "../../fixtures/wait.js";
import { Participant } from "../../scripted-participant/participant.js";
import { holder, idsOf, instrument, numbers, Pairs, type State } from "./pairs.js";
import { Random } from "./random.js";
import { becomesReady } from "./services.js";

const { registrar } = parties;

interface TestRequest {
  readonly path: string;
  readonly body?: JsonObject;
}

/** Requests for every pair of a state, and for what all pairs share. */
function requestsFor({ tags }: State): TestRequest[] {
  const ofPair = (pair: number): TestRequest[] => {
    const { offer } = idsOf(pair, tags[pair] ?? "0.0");
    const [who, what] = [holder(pair), instrument(pair)];
    const instrumentId = { admin: registrar, id: what };
    const legs = [leg(account(who), account(who), what), leg(account(holder(0)), account(holder(0)), instrument(0))];
    return [
      { path: transferChoice("v1", "accept")(offer), body: { meta: {} } },
      { path: transferChoice("v2", "accept")(offer), body: { meta: {}, excludeDebugFields: true } },
      { path: reject(offer), body: { meta: {} } },
      { path: transferFactory(), body: transferV1(who, "bob", { instrumentId }) },
      { path: transferFactory(), body: transferV1(who, who, { instrumentId }) },
      { path: transferFactoryV2(), body: transferV2(account(who), account("bob"), { instrumentId }) },
      { path: settlementFactory(), body: settlement(legs.slice(0, 1), []) },
      { path: settlementFactory(), body: settlement(legs, []) },
      { path: `${registry()}/metadata/v1/instruments/${what}` },
      {
        path: instrumentConfiguration,
        body: { registrar, instrumentIdentifier: { source: registrar, id: what, scheme: "Internal" } },
      },
    ];
  };
  const common = [
    { path: allInstrumentConfigurations },
    { path: `${registry()}/metadata/v1/instruments?pageSize=4` },
    { path: `${registry()}/metadata/v1/info` },
    { path: "/api/utilities/v0/operator" },
    { path: reject("nowhere"), body: { meta: {} } },
  ];
  return [...numbers.flatMap(ofPair), ...common];
}

test("replicas at one offset answer equally, and like a service in memory", { timeout: 300_000 }, async () => {
  const pairs = new Pairs(20);
  const participant = await Participant.start({ ledger: pairs.ledger, checkpointMs: 20 });
  onTestFinished(() => participant.stop());
  const database = await freshDatabase();
  onTestFinished(() => database.drop());
  const inMemoryConfig: Config = {
    ...quiet(),
    ledgerUrl: new URL(participant.url),
    ledgerParties: [parties.operator],
    totalSupply: true,
    // An unknown contract is 404 only once the ledger's end is reached, which takes long on a busy machine.
    readWaitMs: 10_000,
    graceSeconds: 2,
  };
  const shared: Config = { ...inMemoryConfig, databaseUrl: new URL(database.url) };
  await start(shared, { mirrors: true, answers: false });
  const inMemory = (await start(inMemoryConfig)).url;
  const cached = (await start(shared, { mirrors: false, answers: true })).url;
  // Its cache evicts entries early.
  const smallCache = (await start({ ...shared, cacheMegabytes: 1 }, { mirrors: false, answers: true })).url;
  const urls = [inMemory, cached, smallCache];
  await Promise.all(urls.map(becomesReady));

  const random = new Random(11);
  const statuses = new Map<number, number>();
  for (let round = 0; round < 12; round++) {
    for (let update = 0; update < 1 + random.below(8); update++) {
      pairs.change(random);
      // Intermediate reads make the cache hold more than one state.
      if (random.below(3) === 0) await answers(cached, [{ path: allInstrumentConfigurations }]);
    }
    const state = pairs.replace(random.below(6));
    await until("all serve the state", async () =>
      (await Promise.all(urls.map((url) => servesState(url, state)))).every(Boolean),
    );
    const asked = requestsFor(state);
    const [first, ...others] = await Promise.all(urls.map((url) => answers(url, asked)));
    for (const other of others) expect(other).toEqual(first);
    // Most of the second round is served from the cache.
    expect(await answers(cached, asked)).toEqual(first);
    for (const { status } of first ?? []) statuses.set(status, (statuses.get(status) ?? 0) + 1);
    await delay(20);
  }
  // Make sure that they do not agree by failing.
  expect(statuses.get(404)).toBe(12);
  expect(statuses.get(200)).toBe(12 * (requestsFor(pairs.now).length - 1));
});

async function start(config: Config, roles?: Roles): Promise<App> {
  const app = await startApp(config, Date.now, roles);
  onTestFinished(() => app.close());
  return app;
}

interface Bytes {
  readonly path: string;
  readonly status: number;
  readonly type: string | null;
  readonly body: string;
}

async function answers(url: string, asked: readonly TestRequest[]): Promise<Bytes[]> {
  const all: Bytes[] = [];
  for (const { path, body } of asked) {
    const sent =
      body === undefined
        ? {}
        : { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" } };
    const response = await fetch(url + path, sent);
    const bytes = Buffer.from(await response.arrayBuffer());
    all.push({
      path,
      status: response.status,
      type: response.headers.get("content-type"),
      body: bytes.toString("latin1"),
    });
  }
  return all;
}

/** Whether a service returns the configurations of a state. */
async function servesState(url: string, { tags }: State): Promise<boolean> {
  const text = await (await fetch(url + allInstrumentConfigurations)).text();
  return tags.every((tag, pair) => text.includes(`"${idsOf(pair, tag).configuration}"`));
}
