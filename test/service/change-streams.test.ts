/** Streams of changes: what is merged, resumed, filtered and reset. */
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { ChangeStreams, type ChangeStreamsOptions } from "../../src/service/change-streams.js";
import type { WatchEvent } from "../../src/service/released-changes.js";
import { ChangeLog } from "../../src/state/change-log.js";
import { MAX_WAIT_MS, within } from "../fixtures/wait.js";

/** Streams over a log at offset 10, until the test ends. */
function setUp(options: Partial<ChangeStreamsOptions> = {}, log = logAt(10)) {
  const setup = {
    log,
    stale: undefined as string | undefined,
    streams: new ChangeStreams({
      changes: log,
      freshness: { staleReason: (): string | undefined => setup.stale },
      age: () => 7,
      configurationId: "c",
      mergeMs: 5,
      ...options,
    }),
  };
  onTestFinished(() => setup.streams.close());
  return setup;
}
type Setup = ReturnType<typeof setUp>;

function logAt(offset: number): ChangeLog {
  const log = new ChangeLog();
  log.reset({ generation: "g", offset, asOf: undefined });
  return log;
}

function open({ streams }: Setup, query: Partial<Parameters<ChangeStreams["watch"]>[0]> = {}) {
  const end = new AbortController();
  onTestFinished(() => end.abort());
  const events = streams.watch({ registrars: [], tags: [], resumeToken: "", ...query }, end.signal);
  const next = async () => (await within(MAX_WAIT_MS, "an event", events.next())).value as WatchEvent | undefined;
  return { next, end: () => end.abort() };
}

/** A stream whose first event has been read. */
async function opened(setup: Setup, query: Parameters<typeof open>[1] = {}) {
  const stream = open(setup, query);
  expect(await stream.next()).toMatchObject({ type: "reset", offset: setup.log.position?.offset });
  return stream;
}

const append = ({ log }: Setup, offset: number, ...tags: readonly string[]) =>
  log.append({ offset, asOf: offset * 1000, tags: new Set(tags) });
const numbered = (count: number) => Array.from({ length: count }, (_, tag) => tag.toString(16).padStart(8, "0"));

describe("merging", () => {
  test("a client that reads slowly gets one event with all tags, each once", async () => {
    const setup = setUp();
    const [slow, fast] = [await opened(setup), await opened(setup)];
    append(setup, 11, "a", "b");
    expect(await fast.next()).toMatchObject({ offset: 11 });
    append(setup, 12, "b", "c");
    append(setup, 14, "d");
    for (let offset = 11; offset < 14;) offset = (await fast.next())?.offset ?? 14;
    const position = { generation: "g.c", offset: 14, asOf: 14_000 };
    expect(await slow.next()).toEqual({ type: "changed", tags: ["a", "b", "c", "d"], ...position });
  });

  test("changes within the time to merge are one event, after the first", async () => {
    const setup = setUp({ mergeMs: 50 });
    const stream = await opened(setup);
    append(setup, 11, "a");
    expect(await stream.next()).toMatchObject({ tags: ["a"] });
    for (let offset = 12; offset < 20; offset++) append(setup, offset, `t${offset}`);
    expect(await stream.next()).toMatchObject({ offset: 19, tags: expect.arrayContaining(["t12", "t19"]) as string[] });
  });

  test("a change that comes while streams are woken is released after them", async () => {
    const setup = setUp();
    const streams = await Promise.all(Array.from({ length: 12 }, () => opened(setup)));
    const woken = streams.map(({ next }) => next());
    void woken[0]?.then(() => append(setup, 12, "b"));
    append(setup, 11, "a");
    await Promise.all(woken);
    expect(await streams[0]?.next()).toMatchObject({ type: "changed", offset: 12 });
  });

  test("more than 10,000 tags are a reset", async () => {
    const setup = setUp();
    const stream = await opened(setup);
    append(setup, 11, ...numbered(10_000));
    expect(await stream.next()).toMatchObject({ type: "changed", offset: 11 });
    append(setup, 12, ...numbered(10_001));
    expect(await stream.next()).toMatchObject({ type: "reset", offset: 12 });
    append(setup, 13, "a");
    expect(await stream.next()).toMatchObject({ type: "changed", tags: ["a"] });
  });

  test("streams without a filter send the same object, others an equal one", async () => {
    const setup = setUp();
    const streams = [await opened(setup), await opened(setup), await opened(setup, { tags: ["a"] })];
    append(setup, 11, "a");
    const [one, two, three] = await Promise.all(streams.map(({ next }) => next()));
    expect(two).toBe(one);
    expect(three).toEqual(one);
  });

  test.each<[string, (log: ChangeLog) => void, { generation: string; offset: number }]>([
    [
      "a new snapshot",
      (log) => log.reset({ generation: "h", offset: 3, asOf: undefined }),
      { generation: "h.c", offset: 3 },
    ],
    [
      "more tags than are kept",
      (log) => log.append({ offset: 12, asOf: undefined, tags: new Set(numbered(200_001)) }),
      { generation: "g.c", offset: 12 },
    ],
  ])("%s within the time to merge is one reset", async (_what, change, latest) => {
    const setup = setUp({ mergeMs: 200 });
    const stream = await opened(setup);
    append(setup, 11, "a");
    expect(await stream.next()).toMatchObject({ type: "changed", offset: 11 });
    // The next event is due only after the time to merge.
    change(setup.log);
    expect(await stream.next()).toMatchObject({ type: "reset", ...latest });
  });
});

test("a heartbeat comes when nothing else does, with the latest position", async () => {
  const setup = setUp({ heartbeatMs: 50 });
  const stream = await opened(setup, { tags: ["a"] });
  append(setup, 11, "b");
  append(setup, 12);
  const position = { generation: "g.c", offset: 12, asOf: 12_000 };
  expect(await stream.next()).toEqual({ type: "heartbeat", age: 7, ...position });
});

describe("resuming", () => {
  test("goes on after the position", async () => {
    const setup = setUp();
    append(setup, 11, "a");
    append(setup, 12, "b");
    // Changes are released in a later turn.
    const resume = (resumeToken: string) => open(setup, { resumeToken }).next();
    await vi.waitFor(async () => expect(await resume("12.g.c")).toMatchObject({ type: "heartbeat", offset: 12 }));
    expect(await resume("11.g.c")).toMatchObject({ type: "changed", tags: ["b"] });
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

test("a stream for which nothing changes is not reset when the log no longer reaches back to its last event", async () => {
  let now = 0;
  // The log keeps fewer updates.
  const updates = 25_000;
  const setup = setUp({ clock: () => now, mergeMs: 1 });
  const [all, one] = [await opened(setup), await opened(setup, { tags: ["aaaaaaaa"] })];
  const pending = one.next();
  const last = 10 + updates;
  for (let offset = 11; offset <= last; offset++) {
    append(setup, offset, "bbbbbbbb");
    if ((offset - 10) % 1_000 > 0) continue;
    now += 1;
    // Both streams have been served up to here.
    for (let served = 0; served < offset;) served = (await all.next())?.offset ?? offset;
  }
  now += 10_000;
  expect(await pending).toMatchObject({ type: "heartbeat", offset: last });
  const changed = one.next();
  append(setup, last + 1, "aaaaaaaa", "cccccccc");
  expect(await changed).toMatchObject({ type: "changed", tags: ["aaaaaaaa", "cccccccc"], offset: last + 1 });
});

test("a stream may begin as soon as there is a state", async () => {
  const setup = setUp({ mergeMs: 60_000, configurationId: "" }, new ChangeLog());
  await expect(open(setup).next()).rejects.toMatchObject({ reason: "unavailable" });
  setup.log.reset({ generation: "g", offset: 1, asOf: undefined });
  expect(await open(setup).next()).toMatchObject({ type: "reset", generation: "g" });
});

test("a stale service ends its streams, and begins none", async () => {
  const setup = setUp();
  const next = (await opened(setup)).next().catch((error: unknown) => error);
  setup.stale = "too old";
  expect(await next).toMatchObject({ reason: "unavailable", message: "too old" });
  await expect(open(setup).next()).rejects.toMatchObject({ reason: "unavailable" });
});

test("a stream ends with its signal", async () => {
  const stream = await opened(setUp());
  const next = stream.next();
  stream.end();
  expect(await next).toBeUndefined();
});
