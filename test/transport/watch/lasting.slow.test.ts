/** Streams of changes over HTTP/2 outlast the limits on requests, end as unavailable, and are logged as they end. */
import { once } from "node:events";
import http2 from "node:http2";
import { setTimeout as pause } from "node:timers/promises";
import { Code } from "@connectrpc/connect";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { ScriptedLedger } from "../../scripted-participant/ledger.js";
import { creationsOf } from "../../scripted-participant/elements.js";
import { startApp } from "../../../src/app/app.js";
import type { JsonObject } from "../../../src/util/json.js";
import { element, parties, payload } from "../../fixtures/elements.js";
import { registryOf } from "../../fixtures/registries.js";
import { quiet, serve } from "../../fixtures/run-service.js";
import { until, within } from "../../fixtures/wait.js";
import { http2WatchStreams, type WatchedEvent } from "../../fixtures/watch-streams.js";
import { participantOn } from "../../ingest/mirror/run-mirror.js";

/** Instead of 30 s and 2 minutes, after which a request was reset. */
const REQUEST_SECONDS = 1;
const STALLED_MS = 1_000;
vi.mock("../../../src/transport/limits.js", async (original) => ({
  ...(await original<object>()),
  STALLED_MS: 1_000,
}));

const BOUND_MS = 20_000;
const { operator } = parties;

const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  for (const stop of stops.splice(0).toReversed()) await stop();
});

async function setUp() {
  const ledger = new ScriptedLedger();
  const participant = await participantOn({ ledger, checkpointMs: 20 });
  stops.push(() => participant.stop());
  const create = (...elements: readonly JsonObject[]) =>
    ledger.transact(creationsOf(elements).map((one) => ({ create: { ...one, signatories: [operator] } })));
  create(...registryOf());
  const ledgerUrl = new URL(participant.url);
  const limits = { requestSeconds: REQUEST_SECONDS, unreadySeconds: 9, staleSeconds: 10, graceSeconds: 2 };
  const log = { logLevel: "info", logRequests: "all" } as const;
  const app = await startApp({ ...quiet(), ...log, ledgerUrl, ledgerParties: [operator], ...limits });
  stops.push(() => app.close());
  await until("the service is ready", async () => (await fetch(`${app.url}/readyz`)).ok, BOUND_MS);
  return { create, participant, app };
}

test("by every protocol", async () => {
  const logged: string[] = [];
  vi.spyOn(process.stderr, "write").mockImplementation((line) => {
    const { operation = "", protocol, status } = JSON.parse(String(line)) as Partial<Record<string, string>>;
    if (operation.endsWith("/Watch")) logged.push(`${protocol} ${status}`);
    return true;
  });
  const { create, participant, app } = await setUp();
  const end = new AbortController();
  onTestFinished(() => end.abort());
  const streams = Object.values(http2WatchStreams).map((watch) => watch(app.url, {}, end.signal));
  const next = () =>
    Promise.all(
      streams.map(async (stream): Promise<WatchedEvent | undefined> => {
        const { value, done } = await within(BOUND_MS, "an event", stream.next());
        return done === true ? undefined : value;
      }),
    );
  for (const event of await next()) expect(event).toMatchObject({ reset: {} });

  await pause(REQUEST_SECONDS * 1_000 + 3 * STALLED_MS);
  const offset = create(element("Credential", "dave-holds", payload.credential("dave", ["holds=USD"])));
  for (const event of await next()) expect(event).toMatchObject({ changed: {}, offset: String(offset) });
  expect(logged).toEqual([]);

  stops.shift();
  await participant.stop();
  const ends = await Promise.all(
    streams.map(async (stream) => {
      try {
        while ((await within(BOUND_MS, "the end", stream.next())).done !== true);
        return "ended";
      } catch (error) {
        return (error as { readonly code?: number }).code;
      }
    }),
  );
  expect(ends).toEqual(["ended", ...Array.from({ length: 4 }, () => Code.Unavailable)]);
  await until("all of them are logged", () => logged.length === streams.length);
  expect(logged.toSorted()).toEqual([
    "connect unavailable",
    "grpc unavailable",
    "grpc unavailable",
    "grpc-web unavailable",
    "rest unavailable",
  ]);
  expect((await fetch(`${app.url}/api/offledger/v1/watch`)).status).toBe(503);
});

test("not where the client takes nothing", async () => {
  const running = await serve(registryOf(), { config: { requestSeconds: REQUEST_SECONDS } });
  stops.push(() => running.close());
  const session = http2.connect(running.url, { settings: { initialWindowSize: 0 } });
  onTestFinished(() => session.destroy());
  const stream = session.request({ ":path": "/api/offledger/v1/watch" });
  const [head] = (await within(BOUND_MS, "the response", once(stream, "response"))) as [http2.IncomingHttpHeaders];
  expect(head[":status"]).toBe(200);
  const begin = performance.now();
  await within(BOUND_MS, "the reset", once(stream, "close"));
  expect(stream.rstCode).toBe(http2.constants.NGHTTP2_CANCEL);
  expect(performance.now() - begin).toBeGreaterThan(STALLED_MS / 2);
});
