/** Transfer factories by registrar, instrument and kind: from requests of every protocol, and within bounds. */
import { Registry } from "prom-client";
import { expect, onTestFinished, test } from "vitest";
import { acme } from "../../demo/registry.js";
import { TransferMetrics } from "../../src/telemetry/metrics.js";
import { callNamed } from "../fixtures/calls/index.js";
import { element, payload } from "../fixtures/elements.js";
import { freshDatabase } from "../fixtures/postgres.js";
import { sendRest } from "../fixtures/protocols.js";

import { registryOf, serving } from "../fixtures/registries.js";
import * as requests from "../fixtures/requests.js";
import { until } from "../fixtures/wait.js";
import { protocolClients } from "./protocol-clients.js";
import { scrape, typesOf } from "./exposition.js";
import { start } from "./starting.js";

const METRIC = "offledger_transfer_factories_total";
const offer = callNamed("v1 transfer factory, offer");
const direct = callNamed("v2 transfer factory, direct");
const self = callNamed("v1 transfer factory, self, without debug fields");

/** The samples as `registrar instrument kind value`. */
async function counted(metricsUrl: string | undefined): Promise<string[]> {
  const { text, samples } = await scrape(metricsUrl);
  expect(typesOf(text).get(METRIC)).toBe("counter");
  return samples
    .filter(({ name }) => name === METRIC)
    .map(({ labels, value }) => `${labels.registrar} ${labels.instrument} ${labels.transfer_kind} ${value}`)
    .toSorted();
}

test("requests of every protocol are counted once, refused ones are not", async () => {
  const app = await start({ metricsPort: 0 });
  expect(await counted(app.metricsUrl)).toEqual([]);
  const clients = Object.values(protocolClients);
  for (const { send } of clients) {
    for (const call of [offer, direct, direct, self]) expect(await send(app.url, call)).toBeUndefined();
    expect(await send(app.url, callNamed("transfer arguments without a transfer"))).toBeDefined();
    expect(await send(app.url, callNamed("v1 transfer instruction, accept"))).toBeUndefined();
  }
  expect(clients).toHaveLength(6);
  expect(await counted(app.metricsUrl)).toEqual([
    `${acme.party} ACME-BOND offer 6`,
    `${acme.party} ACME-BOND self 6`,
    `${acme.party} ACME-EUR direct 12`,
  ]);
});

test("responses that the client has are counted too", async () => {
  const app = await start({ metricsPort: 0 });
  const ask = (etag: string) =>
    sendRest(app.url, direct, { headers: { "content-type": "application/json", "offledger-if-none-match": etag } });
  const first = await ask("");
  expect(first.status).toBe(200);
  const etag = first.headers.get("etag") ?? "";
  const second = await ask(etag);
  expect([second.status, await second.text()]).toEqual([200, "{}"]);
  expect(await counted(app.metricsUrl)).toEqual([`${acme.party} ACME-EUR direct 2`]);
});

test("with a database a request counts once, however often its query runs", async () => {
  const database = await freshDatabase();
  onTestFinished(() => database.drop());
  const app = await start({ metricsPort: 0, databaseUrl: new URL(database.url) });
  await until("it is ready", async () => (await fetch(`${app.url}/readyz`)).ok);
  for (const { send } of Object.values(protocolClients)) expect(await send(app.url, offer)).toBeUndefined();
  expect(await counted(app.metricsUrl)).toEqual([`${acme.party} ACME-BOND offer 6`]);
});

test("any registrar and any instrument is a label", async () => {
  const [registrar, id] = ['o"dd\\ party\n{a="b"}::1220', 'E"U\\R\n'];
  const running = await serving(
    registryOf({
      factory: element("AllocationFactory", "factory", payload.service({ registrar })),
      rule: element("TransferRule", "rule", payload.service({ registrar })),
      configuration: element("InstrumentConfiguration", "usd", payload.configuration(id, { registrar })),
    }),
  );
  const app = await start({ metricsPort: 0, snapshot: running.path });
  const body = {
    choiceArguments: {
      transfer: { sender: "alice", receiver: "bob", instrumentId: { admin: registrar, id } },
    },
  };
  const path = requests.transferFactory().replace(/registrars\/[^/]+/, `registrars/${encodeURIComponent(registrar)}`);
  const response = await fetch(app.url + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  expect(await response.text()).toContain('"transferKind"');
  const text = await (await fetch(app.metricsUrl ?? "")).text();
  expect(text).toContain(
    String.raw`${METRIC}{registrar="o\"dd\\ party\n{a=\"b\"}::1220",instrument="E\"U\\R\n",transfer_kind="offer"} 1`,
  );
});

/** What a process exports after these transfers. */
async function seriesOf(transfers: (metrics: TransferMetrics) => void): Promise<string[]> {
  const registry = new Registry();
  transfers(new TransferMetrics(registry));
  const counter = await registry.getSingleMetric(METRIC)?.get();
  return (counter?.values ?? []).map(
    ({ labels, value }) => `${labels.registrar} ${labels.instrument} ${labels.transfer_kind} ${value}`,
  );
}

test("past 1,000 series, further ones are counted as other, with their kind", async () => {
  const series = await seriesOf((metrics) => {
    for (let index = 0; index < 1_500; index++) metrics.count("acme", `I${index}`, "offer");
    for (let index = 0; index < 1_500; index++) metrics.count(`registrar-${index}`, "EUR", "direct");
    // A further kind of a counted instrument is a further series.
    metrics.count("acme", "I0", "self");
    metrics.count("acme", "I0", "offer");
  });
  // The series of "other" are three of the 1,000.
  expect(series).toHaveLength(1_000);
  const others = series.filter((one) => one.startsWith("other"));
  expect(others).toEqual(["other other offer 503", "other other direct 1500", "other other self 1"]);
  expect(series).toContain("acme I0 offer 2");
  expect(series).toContain("acme I996 offer 1");
  expect(series).not.toContain("acme I997 offer 1");
});

test("long labels are other; an instrument that a registry does not name is unknown", async () => {
  const series = await seriesOf((metrics) => {
    metrics.count("a".repeat(300), "b".repeat(301), "offer");
    metrics.count("a".repeat(301), "EUR", "offer");
    metrics.count("acme", undefined, "self");
    // A module in JavaScript.
    metrics.count("acme", 5 as never, "self");
    metrics.count("acme", "EUR", "gift" as never);
  });
  expect(series).toEqual([`${"a".repeat(300)} other offer 1`, "other EUR offer 1", "acme unknown self 2"]);
});
