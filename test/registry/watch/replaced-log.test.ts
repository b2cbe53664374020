/** A stream whose position is released sends nothing, whatever the log of changes has become in the meantime. */
import { expect, onTestFinished, test } from "vitest";
import { ChangeStreams } from "../../../src/registry/watch/change-streams.js";
import { ChangeLog } from "../../../src/store/change-log.js";

const MERGE_MS = 200;

function streamsOf(changes: ChangeLog): ChangeStreams {
  const options = { changes, freshness: { staleReason: () => undefined }, age: () => 0, configurationId: "" };
  const streams = new ChangeStreams({ ...options, mergeMs: MERGE_MS });
  onTestFinished(() => streams.close());
  return streams;
}

const position = (generation: string, offset: number) => ({ generation, offset, asOf: undefined });

test.each([
  ["a new snapshot", (changes: ChangeLog) => changes.reset(position("B", 3)), { generation: "B", offset: 3 }],
  [
    "more tags than are kept",
    (changes: ChangeLog) =>
      changes.append({
        offset: 12,
        asOf: undefined,
        tags: new Set(Array.from({ length: 200_001 }, (_, tag) => tag.toString(16).padStart(8, "0"))),
      }),
    { generation: "A", offset: 12 },
  ],
])("%s within the time of merging is one reset", async (_, change, latest) => {
  const changes = new ChangeLog();
  changes.reset(position("A", 10));
  const streams = streamsOf(changes);
  const events = streams.watch({ registrars: [], tags: [], resumeToken: "" }, new AbortController().signal);
  expect((await events.next()).value).toMatchObject({ type: "reset", generation: "A", offset: 10 });
  changes.append({ offset: 11, asOf: undefined, tags: new Set(["00000000"]) });
  expect((await events.next()).value).toMatchObject({ type: "changed", offset: 11 });
  // The next event is due only after the time of merging.
  change(changes);
  expect((await events.next()).value).toMatchObject({ type: "reset", ...latest });
});

test("a stream that resumes after all changes waits for the next", async () => {
  const changes = new ChangeLog();
  changes.reset(position("A", 10));
  const streams = streamsOf(changes);
  const query = { registrars: [], tags: [], resumeToken: "12.A" };
  const events = streams.watch(query, new AbortController().signal);
  expect((await events.next()).value).toMatchObject({ type: "heartbeat", offset: 10 });
  changes.append({ offset: 12, asOf: undefined, tags: new Set(["00000000"]) });
  changes.append({ offset: 13, asOf: undefined, tags: new Set(["00000001"]) });
  expect((await events.next()).value).toMatchObject({ type: "changed", offset: 13, tags: ["00000001"] });
});
