import { afterEach, describe, expect, test, vi } from "vitest";
import { ChangeStreams } from "../../../src/registry/watch/change-streams.js";
import type { WatchEvent } from "../../../src/registry/watch/released-changes.js";
import { ChangeLog } from "../../../src/store/change-log.js";
import { registrarHash } from "../../../src/store/lookup-hash.js";
import { within } from "../../fixtures/wait.js";

const BOUND_MS = 20_000;
const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

interface Setup {
  readonly log: ChangeLog;
  readonly streams: ChangeStreams;
  stale: string | undefined;
}

function setUp(options: { heartbeatMs?: number; mergeMs?: number } = {}): Setup {
  const log = new ChangeLog();
  log.reset({ generation: "g", offset: 10, asOf: undefined });
  const setup: Setup = {
    log,
    stale: undefined,
    streams: new ChangeStreams({
      changes: log,
      freshness: { staleReason: () => setup.stale },
      age: () => 7,
      configurationId: "c",
      mergeMs: 5,
      ...options,
    }),
  };
  stops.push(() => setup.streams.close());
  return setup;
}

function open({ streams }: Setup, query: Partial<Parameters<ChangeStreams["watch"]>[0]> = {}) {
  const end = new AbortController();
  stops.push(() => end.abort());
  const events = streams.watch({ registrars: [], tags: [], resumeToken: "", ...query }, end.signal);
  const next = async (): Promise<WatchEvent | undefined> =>
    (await within(BOUND_MS, "an event", events.next())).value as WatchEvent | undefined;
  return { next, end: () => end.abort() };
}

const append = ({ log }: Setup, offset: number, ...tags: readonly string[]) =>
  log.append({ offset, asOf: offset * 1000, tags: new Set(tags) });

describe("merging", () => {
  test("a client that reads slowly gets one event with all tags, each once", async () => {
    const setup = setUp();
    const stream = open(setup);
    await stream.next();
    append(setup, 11, "a", "b");
    await new Promise((resolve) => setTimeout(resolve, 20));
    append(setup, 12, "b", "c");
    append(setup, 14, "d");
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await stream.next()).toEqual({
      type: "changed",
      tags: ["a", "b", "c", "d"],
      generation: "g.c",
      offset: 14,
      asOf: 14_000,
    });
  });

  test("changes within the time to merge are one event, after the first", async () => {
    const setup = setUp({ mergeMs: 50 });
    const stream = open(setup);
    await stream.next();
    append(setup, 11, "a");
    expect(await stream.next()).toMatchObject({ tags: ["a"] });
    for (let offset = 12; offset < 20; offset++) append(setup, offset, `t${offset}`);
    expect(await stream.next()).toMatchObject({ offset: 19, tags: expect.arrayContaining(["t12", "t19"]) as string[] });
  });

  test("more than 10,000 tags are a reset", async () => {
    const setup = setUp();
    const stream = open(setup);
    await stream.next();
    append(setup, 11, ...Array.from({ length: 10_001 }, (_, index) => String(index)));
    expect(await stream.next()).toMatchObject({ type: "reset", offset: 11 });
    append(setup, 12, "a");
    expect(await stream.next()).toMatchObject({ type: "changed", tags: ["a"] });
  });

  test("streams without a filter send the same object", async () => {
    const setup = setUp();
    const [first, second, filtered] = [open(setup), open(setup), open(setup, { tags: ["a"] })];
    await Promise.all([first.next(), second.next(), filtered.next()]);
    append(setup, 11, "a");
    const [one, two, three] = await Promise.all([first.next(), second.next(), filtered.next()]);
    expect(two).toBe(one);
    expect(three).toEqual(one);
  });
});

test("a heartbeat comes when nothing else does, with the latest position", async () => {
  const setup = setUp({ heartbeatMs: 50 });
  const stream = open(setup, { tags: ["a"] });
  await stream.next();
  append(setup, 11, "b");
  append(setup, 12);
  expect(await stream.next()).toEqual({ type: "heartbeat", age: 7, generation: "g.c", offset: 12, asOf: 12_000 });
});

describe("resuming", () => {
  test("goes on after the position", async () => {
    const setup = setUp();
    append(setup, 11, "a");
    append(setup, 12, "b");
    // Changes are released in a later turn.
    await vi.waitFor(async () =>
      expect(await open(setup, { resumeToken: "12.g.c" }).next()).toMatchObject({ offset: 12 }),
    );
    expect(await open(setup, { resumeToken: "11.g.c" }).next()).toMatchObject({ type: "changed", tags: ["b"] });
    expect(await open(setup, { resumeToken: "12.g.c" }).next()).toMatchObject({ type: "heartbeat" });
  });

  test.each(["11.h.c", "11.g.d", "9.g.c"])("from an unknown position %s is a reset", async (resumeToken) => {
    const setup = setUp();
    append(setup, 11, "a");
    expect(await open(setup, { resumeToken }).next()).toMatchObject({ type: "reset" });
  });

  test("at a replica that is behind repeats nothing and misses nothing", async () => {
    const setup = setUp();
    const stream = open(setup, { resumeToken: "12.g.c" });
    expect(await stream.next()).toMatchObject({ type: "heartbeat", offset: 10 });
    append(setup, 11, "a");
    append(setup, 12, "b");
    append(setup, 13, "c");
    expect(await stream.next()).toMatchObject({ type: "changed", tags: ["c"], offset: 13 });
  });

  test.each(["x", "12", "-1.g.c", "1e3.g.c", "99999999999999999.g", "1.g/c", `1.${"g".repeat(300)}`])(
    "refuses %s",
    async (resumeToken) => {
      await expect(open(setUp(), { resumeToken }).next()).rejects.toMatchObject({ reason: "invalid" });
    },
  );
});

test("a filter selects by tag and by registrar", async () => {
  const setup = setUp();
  const ofRegistrar = registrarHash("r").slice(0, 8);
  const stream = open(setup, { registrars: ["r"], tags: ["a"] });
  await stream.next();
  append(setup, 11, "b");
  append(setup, 12, "a", "x");
  expect(await stream.next()).toMatchObject({ offset: 12, tags: ["a", "x"] });
  append(setup, 13, ofRegistrar, "y");
  expect(await stream.next()).toMatchObject({ offset: 13, tags: [ofRegistrar, "y"] });
});

test("a stream may begin as soon as there is a state", async () => {
  const setup = setUp({ mergeMs: 60_000 });
  const log = new ChangeLog();
  const streams = new ChangeStreams({
    changes: log,
    freshness: { staleReason: () => undefined },
    age: () => undefined,
    configurationId: "",
  });
  stops.push(() => streams.close());
  await expect(open({ ...setup, streams }).next()).rejects.toMatchObject({ reason: "unavailable" });
  log.reset({ generation: "g", offset: 1, asOf: undefined });
  expect(await open({ ...setup, streams }).next()).toMatchObject({ type: "reset", generation: "g" });
});

test("a stale service ends its streams, and begins none", async () => {
  const setup = setUp();
  const stream = open(setup);
  await stream.next();
  const next = stream.next().catch((error: unknown) => error);
  setup.stale = "too old";
  expect(await next).toMatchObject({ reason: "unavailable", message: "too old" });
  await expect(open(setup).next()).rejects.toMatchObject({ reason: "unavailable" });
});

test("a stream ends with its signal", async () => {
  const stream = open(setUp());
  await stream.next();
  const next = stream.next();
  stream.end();
  expect(await next).toBeUndefined();
});
