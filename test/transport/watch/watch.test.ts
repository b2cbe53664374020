/** The stream of changes by every protocol, of a service that follows a participant. The page is docs/caching.md. */
import { utimes } from "node:fs/promises";
import { Code, ConnectError } from "@connectrpc/connect";
import { status } from "@grpc/grpc-js";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { ScriptedLedger } from "../../scripted-participant/ledger.js";
import { creationsOf } from "../../scripted-participant/elements.js";
import { type App, startApp } from "../../../src/app/app.js";
import type { Config } from "../../../src/config/config.js";
import type { JsonObject } from "../../../src/domain/json.js";
import { element, parties, payload } from "../../fixtures/elements.js";
import { AUDIENCE, ISSUER, JwksServer, Key } from "../../fixtures/issuer.js";
import { registryOf, serving } from "../../fixtures/registries.js";
import { transferFactory, transferV1 } from "../../fixtures/requests.js";
import { quiet, registry } from "../../fixtures/run-service.js";
import { until, within } from "../../fixtures/wait.js";
import {
  type Watch,
  WatchRefused,
  type WatchedEvent,
  type WatchOptions,
  watchStreams,
} from "../../fixtures/watch-streams.js";
import { participantOn } from "../../ingest/mirror/run-mirror.js";

const BOUND_MS = 20_000;
const { operator, registrar } = parties;
const other = "other-registrar";

const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop();
});

interface Setup {
  readonly ledger: ScriptedLedger;
  readonly participant: Awaited<ReturnType<typeof participantOn>>;
  readonly app: App;
}

async function setUp(config: Partial<Config> = {}): Promise<Setup> {
  const ledger = new ScriptedLedger();
  const participant = await participantOn({ ledger, checkpointMs: 20 });
  stops.push(() => participant.stop());
  create(ledger, ...registryOf());
  const settings = { ledgerUrl: new URL(participant.url), ledgerParties: [operator], graceSeconds: 2 };
  const app = await startApp({ ...quiet(), ...settings, ...config });
  stops.push(() => app.close());
  await until("the service is ready", async () => (await fetch(`${app.url}/readyz`)).ok, BOUND_MS);
  return { ledger, participant, app };
}

const create = (ledger: ScriptedLedger, ...elements: readonly JsonObject[]): number =>
  ledger.transact(creationsOf(elements).map((one) => ({ create: { ...one, signatories: [operator] } })));

const credentialOf = (party: string, id: string) => element("Credential", id, payload.credential(party, ["holds=USD"]));

/** A stream with its events, one at a time. */
function open(watch: Watch | undefined, url: string, options: WatchOptions = {}) {
  if (watch === undefined) throw new Error("there is no such protocol");
  const end = new AbortController();
  const events = watch(url, options, end.signal);
  onTestFinished(() => end.abort());
  return {
    async next(): Promise<WatchedEvent> {
      const { value, done } = await within(BOUND_MS, "an event", events.next());
      if (done === true) throw new Error("the stream has ended");
      return value;
    },
    close: () => end.abort(),
  };
}

async function transfer(url: string) {
  const response = await fetch(url + transferFactory(), {
    method: "POST",
    headers: { "content-type": "application/json", "offledger-if-none-match": "" },
    body: JSON.stringify(transferV1("dave", "alice")),
  });
  return {
    headers: response.headers,
    body: await response.text(),
    tags: response.headers.get("offledger-tags")?.split(",") ?? [],
  };
}

describe.each(Object.entries(watchStreams))("%s", (_, watch) => {
  test("begins with a reset, sends what has changed, and resumes", async () => {
    const { ledger, app } = await setUp();
    const first = await transfer(app.url);
    const stream = open(watch, app.url);
    const reset = await stream.next();
    expect(reset).toMatchObject({
      reset: {},
      generation: first.headers.get("offledger-generation"),
      offset: first.headers.get("offledger-offset"),
      resumeToken: expect.stringMatching(/^\d+\./) as string,
    });

    const offset = create(ledger, credentialOf("dave", "dave-holds"));
    const changed = await stream.next();
    expect(changed).toMatchObject({ offset: String(offset), generation: reset.generation });
    expect(changed.changed?.tags.some((tag) => first.tags.includes(tag))).toBe(true);
    expect(changed.recordTime).toMatch(/^20\d\d-/);
    const second = await transfer(app.url);
    expect(second.body).not.toBe(first.body);
    expect(second.headers.get("offledger-offset")).toBe(String(offset));

    stream.close();
    const missed = create(ledger, credentialOf("erin", "erin-holds"));
    await until(
      "the service has it",
      async () => (await transfer(app.url)).headers.get("offledger-offset") === String(missed),
    );
    const resumed = open(watch, app.url, { resumeToken: changed.resumeToken });
    let event = await resumed.next();
    // Changes of the last tenth of a second are released later.
    if (event.heartbeat !== undefined) event = await resumed.next();
    expect(event).toMatchObject({ changed: {}, offset: String(missed) });
    resumed.close();
    const token = `${missed}.${reset.generation}`;
    expect(await open(watch, app.url, { resumeToken: token }).next()).toMatchObject({
      heartbeat: {},
      offset: String(missed),
    });
  });

  test("of a registrar leaves the contracts of others out", async () => {
    const { ledger, app } = await setUp();
    const stream = open(watch, app.url, { registrars: [registrar] });
    await stream.next();
    create(ledger, element("TransferRule", "other-rule", { ...payload.service(), registrar: other }));
    const offset = create(ledger, element("TransferRule", "newer-rule", payload.service()));
    expect(await stream.next()).toMatchObject({ changed: {}, offset: String(offset) });
  });

  test("of tags sends the changes of these look-ups", async () => {
    const { ledger, app } = await setUp();
    const { tags } = await transfer(app.url);
    const stream = open(watch, app.url, { tags });
    await stream.next();
    create(ledger, credentialOf("erin", "erin-holds"));
    const offset = create(ledger, credentialOf("dave", "dave-holds"));
    expect(await stream.next()).toMatchObject({ changed: {}, offset: String(offset) });
  });

  test("is reset when the ledger is another one", async () => {
    const { ledger, app } = await setUp();
    const stream = open(watch, app.url);
    const before = await stream.next();
    ledger.clear();
    create(ledger, ...registryOf());
    const after = await stream.next();
    expect(after).toMatchObject({ reset: {} });
    expect(after.generation).not.toBe(before.generation);
    const late = open(watch, app.url, { resumeToken: before.resumeToken });
    expect(await late.next()).toMatchObject({ reset: {}, generation: after.generation });
  });

  test("ends as unavailable when the service may no longer answer", async () => {
    const { participant, app } = await setUp({ unreadySeconds: 1, staleSeconds: 1 });
    const stream = open(watch, app.url);
    await stream.next();
    await participant.stop();
    stops.shift();
    await expect(readOn(stream)).rejects.toThrow(/ended|has not been reached/);
    await expect(open(watch, app.url).next()).rejects.toSatisfy((error) => isCode(error, Code.Unavailable, 503));
  });

  test("ends when the service stops", async () => {
    const { app } = await setUp();
    const stream = open(watch, app.url);
    await stream.next();
    stops.pop();
    const closed = app.close();
    await expect(readOn(stream)).rejects.toThrow(/ended|stopping/);
    await closed;
  });

  test("is refused beyond the limit", async () => {
    const { app } = await setUp({ maxWatches: 1 });
    const stream = open(watch, app.url);
    await stream.next();
    await expect(open(watch, app.url).next()).rejects.toSatisfy((error) => isCode(error, Code.ResourceExhausted, 429));
    stream.close();
    await until("another stream may begin", async () => {
      const next = open(watch, app.url);
      return next.next().then(
        () => true,
        () => false,
      );
    });
  });

  test.each([
    ["token", { resumeToken: "yesterday" }],
    ["tag", { tags: ["abc"] }],
    ["registrar", { registrars: [""] }],
  ])("refuses a malformed %s", async (_name, options) => {
    const { app } = await setUp();
    await expect(open(watch, app.url, options).next()).rejects.toSatisfy((error) =>
      isCode(error, Code.InvalidArgument, 400),
    );
  });
});

describe("where tokens are required", () => {
  test.each(Object.entries(watchStreams))("%s is refused without one", async (_, watch) => {
    const key = await Key.make("first");
    const issuer = new JwksServer([key]);
    await issuer.open();
    stops.push(() => issuer.close());
    const { app } = await setUp({ authJwksUrl: issuer.url, authIssuer: ISSUER, authAudience: AUDIENCE });
    await expect(open(watch, app.url).next()).rejects.toSatisfy((error) => isCode(error, Code.Unauthenticated, 401));
    const authorization = `Bearer ${await key.sign({ exp: Math.floor(Date.now() / 1000) + 600, nbf: 0 })}`;
    const accepted = await fetch(`${app.url}/api/offledger/v1/watch`, { headers: { authorization } });
    expect(accepted.status).toBe(200);
    await accepted.body?.cancel();
  });
});

/** Takes events until the stream ends, and throws why. */
async function readOn(stream: { next(): Promise<WatchedEvent> }): Promise<never> {
  for (;;) await stream.next();
}

const isCode = (error: unknown, code: Code, http: number): boolean => {
  if (error instanceof WatchRefused) return error.status === http;
  if (error instanceof ConnectError) return error.code === code;
  // The codes of gRPC are those of Connect.
  return (error as { readonly code?: number }).code === (code as number) && status[code] !== undefined;
};

test("a file that is swapped resets the streams", async () => {
  const running = await serving(registryOf());
  const stream = open(watchStreams["server-sent events"], running.url);
  const before = await stream.next();
  await utimes(running.path, new Date(), new Date(Date.now() + 60_000));
  const after = await stream.next();
  expect([after.reset, after.generation === before.generation]).toEqual([{}, false]);
  expect((await running.get(`${registry()}/metadata/v1/info`)).headers.get("offledger-generation")).toBe(
    after.generation,
  );
});
