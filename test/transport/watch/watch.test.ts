/** The stream of changes by every protocol, of a service that follows a participant. The page is docs/caching.md. */
import { utimes } from "node:fs/promises";
import { create as message, fromBinary, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { WatchResponseSchema } from "../../../gen/offledger/watch/v1/watch_pb.js";
import { type App, startApp } from "../../../src/app/app.js";
import type { AppConfig } from "../../../src/config/limits.js";
import type { JsonObject } from "../../../src/util/json.js";
import { encodedOnce } from "../../../src/transport/watch/watch-calls.js";
import { element, parties, payload } from "../../fixtures/elements.js";
import { AUDIENCE, ISSUER, JwksServer, Key } from "../../fixtures/issuer.js";
import { registryOf, serving } from "../../fixtures/registries.js";
import { transferFactory, transferV1 } from "../../fixtures/requests.js";
import { quiet, registry } from "../../fixtures/run-service.js";
import { until, within } from "../../fixtures/wait.js";
import {
  type Watch,
  type WatchedEvent,
  type WatchOptions,
  WatchRefused,
  watchStreams,
  serverSentEvents,
} from "../../fixtures/watch-streams.js";
import { participantOn } from "../../ingest/mirror/run-mirror.js";
import { creationsOf } from "../../scripted-participant/elements.js";
import { ScriptedLedger } from "../../scripted-participant/ledger.js";

const BOUND_MS = 20_000;
const { operator, registrar } = parties;

const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop();
});

async function setUp(config: Partial<AppConfig> = {}) {
  const ledger = new ScriptedLedger();
  const participant = await participantOn({ ledger, checkpointMs: 20 });
  stops.push(() => participant.stop());
  create(ledger, ...registryOf());
  const settings = { ledgerUrl: new URL(participant.url), ledgerParties: [operator], graceSeconds: 2 };
  const app: App = await startApp({ ...quiet(), ...settings, ...config });
  stops.push(() => app.close());
  await until("the service is ready", async () => (await fetch(`${app.url}/readyz`)).ok, BOUND_MS);
  return { ledger, participant, app };
}

const create = (ledger: ScriptedLedger, ...elements: readonly JsonObject[]): number =>
  ledger.transact(creationsOf(elements).map((one) => ({ create: { ...one, signatories: [operator] } })));
const credentialOf = (party: string, id: string) => element("Credential", id, payload.credential(party, ["holds=USD"]));

/** A stream with its events, one at a time. */
function open(watch: Watch, url: string, options: WatchOptions = {}) {
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
const ways = Object.values(watchStreams);
/** A stream by every protocol. */
function openAll(url: string, options: WatchOptions = {}) {
  const streams = ways.map((watch) => open(watch, url, options));
  return {
    next: () => Promise.all(streams.map((stream) => stream.next())),
    /** Takes events until all have ended. Returns why. */
    ends: () =>
      Promise.all(
        streams.map(async (stream): Promise<string> => {
          try {
            for (;;) await stream.next();
          } catch (error) {
            return String(error);
          }
        }),
      ),
    close: () => streams.forEach((stream) => stream.close()),
  };
}
const each = (event: object) => ways.map(() => expect.objectContaining(event) as object);

const isCode = (error: unknown, code: Code, http: number): boolean => {
  if (error instanceof WatchRefused) return error.status === http;
  // The codes of gRPC are those of Connect.
  return (error instanceof ConnectError ? error.code : (error as { readonly code?: Code }).code) === code;
};
async function expectRefused(url: string, code: Code, http: number, options: WatchOptions = {}) {
  for (const watch of ways)
    await expect(open(watch, url, options).next()).rejects.toSatisfy((error) => isCode(error, code, http));
}

async function transfer(url: string) {
  const response = await fetch(url + transferFactory(), {
    method: "POST",
    headers: { "content-type": "application/json", "offledger-if-none-match": "" },
    body: JSON.stringify(transferV1("dave", "alice")),
  });
  const { headers } = response;
  return {
    body: await response.text(),
    tags: headers.get("offledger-tags")?.split(",") ?? [],
    generation: headers.get("offledger-generation"),
    offset: headers.get("offledger-offset"),
  };
}

test("a stream begins with a reset, sends what has changed, and resumes", async () => {
  const { ledger, app } = await setUp();
  const { body, tags, ...state } = await transfer(app.url);
  const streams = openAll(app.url);
  const resumeToken = expect.stringMatching(/^\d+\./) as string;
  expect(await streams.next()).toEqual(each({ reset: {}, ...state, resumeToken }));

  const offset = String(create(ledger, credentialOf("dave", "dave-holds")));
  const changes = await streams.next();
  expect(changes).toEqual(
    each({ offset, generation: state.generation, recordTime: expect.stringMatching(/^20\d\d-/) as string }),
  );
  for (const { changed } of changes) expect(changed?.tags.some((tag) => tags.includes(tag))).toBe(true);
  const second = await transfer(app.url);
  expect([second.body === body, second.offset]).toEqual([false, offset]);

  streams.close();
  const missed = String(create(ledger, credentialOf("erin", "erin-holds")));
  await until("the service has it", async () => (await transfer(app.url)).offset === missed);
  for (const watch of ways) {
    const resumed = open(watch, app.url, { resumeToken: changes[0]?.resumeToken ?? "" });
    let event = await resumed.next();
    // Changes of the last tenth of a second are released later.
    if (event.heartbeat !== undefined) event = await resumed.next();
    expect(event).toMatchObject({ changed: {}, offset: missed });
  }
  const current = openAll(app.url, { resumeToken: `${missed}.${state.generation}` });
  expect(await current.next()).toEqual(each({ heartbeat: expect.anything(), offset: missed }));
});

test("a stream of tags has their look-ups alone, and one of a registrar leaves the contracts of others out", async () => {
  const { ledger, app } = await setUp();
  const { tags } = await transfer(app.url);
  const ofTags = openAll(app.url, { tags });
  await ofTags.next();
  create(ledger, credentialOf("erin", "erin-holds"));
  const offset = String(create(ledger, credentialOf("dave", "dave-holds")));
  expect(await ofTags.next()).toEqual(each({ changed: expect.anything(), offset }));

  const ofRegistrar = openAll(app.url, { registrars: [registrar] });
  await ofRegistrar.next();
  create(ledger, element("TransferRule", "other-rule", { ...payload.service(), registrar: "other-registrar" }));
  const rule = String(create(ledger, element("TransferRule", "newer-rule", payload.service())));
  expect(await ofRegistrar.next()).toEqual(each({ changed: expect.anything(), offset: rule }));
});

test("a stream is reset when the ledger is another one", async () => {
  const { ledger, app } = await setUp();
  const streams = openAll(app.url);
  const [before] = await streams.next();
  ledger.clear();
  create(ledger, ...registryOf());
  const [after, ...others] = await streams.next();
  expect([after, ...others]).toEqual(each({ reset: {}, generation: after?.generation }));
  expect(after?.generation).not.toBe(before?.generation);
  const late = openAll(app.url, { resumeToken: before?.resumeToken ?? "" });
  expect(await late.next()).toEqual(each({ reset: {}, generation: after?.generation }));
});

test("a stream ends when the service stops", async () => {
  const { app } = await setUp();
  const streams = openAll(app.url);
  await streams.next();
  stops.pop();
  const closed = app.close();
  for (const why of await streams.ends()) expect(why).toMatch(/ended|stopping/);
  await closed;
});

test("a stream is refused where it is malformed, and beyond the limit", async () => {
  const { app } = await setUp({ maxWatches: 1 });
  for (const options of [{ resumeToken: "yesterday" }, { tags: ["abc"] }, { registrars: [""] }])
    await expectRefused(app.url, Code.InvalidArgument, 400, options);
  const first = async () => {
    const stream = open(serverSentEvents, app.url);
    await stream.next();
    return stream;
  };
  const stream = await first();
  await expectRefused(app.url, Code.ResourceExhausted, 429);
  stream.close();
  const mayBegin = () =>
    first().then(
      (next) => (next.close(), true),
      () => false,
    );
  await until("another stream may begin", mayBegin);
});

test("a stream of an rpc takes the memory of three by REST", async () => {
  const { gRPC: rpc = serverSentEvents } = watchStreams;
  const { app } = await setUp({ maxStreamUnits: 5 });
  const byRest = async () => {
    const stream = open(serverSentEvents, app.url);
    await stream.next();
    return stream;
  };
  const streams = [await byRest(), await byRest()];
  const byRpc = open(rpc, app.url);
  await byRpc.next();
  await expectRefused(app.url, Code.ResourceExhausted, 429);
  byRpc.close();
  const mayBegin = () =>
    byRest().then(
      (stream) => streams.push(stream) > 0,
      () => false,
    );
  for (let left = 3; left > 0; left--) await until("its memory is free", mayBegin);
  await expectRefused(app.url, Code.ResourceExhausted, 429);
  for (const stream of streams) stream.close();
  await until("another may begin", mayBegin);
});

test("a stream is refused without a token where tokens are required", async () => {
  const key = await Key.make("first");
  const issuer = new JwksServer([key]);
  await issuer.open();
  stops.push(() => issuer.close());
  const { app } = await setUp({ authJwksUrl: issuer.url, authIssuer: ISSUER, authAudience: AUDIENCE });
  await expectRefused(app.url, Code.Unauthenticated, 401);
  const authorization = `Bearer ${await key.sign({ exp: Math.floor(Date.now() / 1000) + 600, nbf: 0 })}`;
  const accepted = await fetch(`${app.url}/api/offledger/v1/watch`, { headers: { authorization } });
  expect(accepted.status).toBe(200);
  await accepted.body?.cancel();
});

test("a file that is swapped resets the streams", async () => {
  const running = await serving(registryOf());
  const streams = openAll(running.url);
  const [before] = await streams.next();
  await utimes(running.path, new Date(), new Date(Date.now() + 60_000));
  const [after] = await streams.next();
  expect([after?.reset, after?.generation === before?.generation]).toEqual([{}, false]);
  const { headers } = await running.get(`${registry()}/metadata/v1/info`);
  expect(headers.get("offledger-generation")).toBe(after?.generation);
});

const read = (event: Parameters<typeof encodedOnce>[0]) =>
  fromBinary(WatchResponseSchema, toBinary(WatchResponseSchema, encodedOnce(event)));

test("an event is encoded once for all streams, and read as the event", () => {
  const rest = { generation: "g", offset: 7n, recordTime: { seconds: 5n, nanos: 3000 }, resumeToken: "7.g" };
  const tags = Array.from({ length: 1_000 }, (_, index) => index.toString(16).padStart(8, "0"));
  const changed = message(WatchResponseSchema, { event: { case: "changed", value: { tags } }, ...rest });
  expect(encodedOnce(changed).event.case).toBeUndefined();
  expect(encodedOnce(changed)).toBe(encodedOnce(changed));
  expect(read(changed)).toEqual(changed);
  const empty = message(WatchResponseSchema, { event: { case: "changed", value: {} }, ...rest });
  expect(read(empty)).toEqual(empty);
  const reset = message(WatchResponseSchema, { event: { case: "reset", value: {} }, generation: "g" });
  expect(encodedOnce(reset)).toBe(reset);
});
