import { expect, test } from "vitest";
import { ChangeStreams } from "../../../src/registry/watch/change-streams.js";
import type { WatchEvent } from "../../../src/registry/watch/released-changes.js";
import { ChangeLog } from "../../../src/store/change-log.js";

/** More than the log keeps. */
const UPDATES = 25_000;
const BATCH = 1_000;
const HEARTBEAT_MS = 10_000;

async function next(events: AsyncGenerator<WatchEvent>): Promise<WatchEvent> {
  const { value } = await events.next();
  if (value === undefined) throw new Error("the stream has ended");
  return value as WatchEvent;
}

test("a stream for which nothing changes is not reset when the log no longer reaches back to its last event", async () => {
  const log = new ChangeLog();
  log.reset({ generation: "g", offset: 0, asOf: undefined });
  let now = 0;
  const streams = new ChangeStreams({
    clock: () => now,
    changes: log,
    freshness: { staleReason: () => undefined },
    age: () => 0,
    configurationId: "",
    mergeMs: 1,
  });
  const end = new AbortController();
  const watch = (tags: string[]) => streams.watch({ registrars: [], tags, resumeToken: "" }, end.signal);
  const [all, one] = [watch([]), watch(["aaaaaaaa"])];
  try {
    for (const events of [all, one]) expect(await next(events)).toMatchObject({ type: "reset", offset: 0 });
    const pending = next(one);
    for (let offset = 1; offset <= UPDATES; offset++) {
      log.append({ offset, asOf: undefined, tags: new Set(["bbbbbbbb"]) });
      if (offset % BATCH > 0) continue;
      now += 1;
      // Both streams have been served up to here.
      for (let event = await next(all); event.offset < offset;) event = await next(all);
    }
    now += HEARTBEAT_MS;
    expect(await pending).toMatchObject({ type: "heartbeat", offset: UPDATES });
    const changed = next(one);
    log.append({ offset: UPDATES + 1, asOf: undefined, tags: new Set(["aaaaaaaa", "cccccccc"]) });
    expect(await changed).toMatchObject({ type: "changed", tags: ["aaaaaaaa", "cccccccc"], offset: UPDATES + 1 });
  } finally {
    end.abort();
    await Promise.all([all.return(undefined), one.return(undefined)]);
    streams.close();
  }
});
