/** What a process that leads says of itself; src/ingest/leadership.ts. */
import { once } from "node:events";
import type { QueryResultRow } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { LeaderLoop } from "../../../src/ingest/leadership.js";
import type { Ingestor } from "../../../src/ingest/source.js";
import { Database, type Statement } from "../../../src/state/postgres/database.js";
import { DatabaseError } from "../../../src/state/postgres/errors.js";
import { abortablePause } from "../../../src/util/async.js";
import { CONTENT, clock, freshSchema } from "../../fixtures/postgres-schema.js";
import { until } from "../../fixtures/wait.js";

/** A database on which one statement fails as often as a test says. */
class FailingDatabase extends Database {
  failures = 0;
  asked = 0;

  override async query<R extends QueryResultRow>(statement: Statement, values: unknown[] = []): Promise<R[]> {
    if (statement.name !== "delete-states") return super.query<R>(statement, values);
    this.asked++;
    if (this.failures-- > 0) throw new DatabaseError("unavailable", "of the test");
    return super.query<R>(statement, values);
  }
}

/** What stays as it is. */
const ingestor: Ingestor = {
  name: "of the test",
  origin: "of the test",
  reconnects: () => undefined,
  foreign: () => undefined,
  start: (_writer, signal) => ({
    started: Promise.resolve(),
    notReadyReason: () => undefined,
    offset: () => 1,
    age: () => 0,
    otherHistory: () => undefined,
    ended: once(signal, "abort").then(() => undefined),
  }),
};

test("a leader whose database could not be cleaned up is ready: it writes", async () => {
  const schema = await freshSchema();
  onTestFinished(() => schema.drop());
  const database = new FailingDatabase({ url: schema.url, maxConnections: 2 });
  const end = new AbortController();
  const { signal } = end;
  const logged: string[] = [];
  const log = {
    info: (_details: object, message: string) => void logged.push(message),
    warn: (details: object, message: string) => void logged.push(`${message} ${JSON.stringify(details)}`),
    error: (_details: object, message: string) => void logged.push(message),
  };
  let skipped = 0;
  const loop = new LeaderLoop({
    database,
    ingestor,
    contentId: CONTENT,
    log,
    clock: () => clock() + skipped,
    pause: abortablePause(signal),
    signal,
  });
  const running = loop.run();
  onTestFinished(async () => {
    end.abort();
    await running;
    await database.close();
  });
  await until("it leads", () => loop.isLeader);
  expect(loop.notReadyReason()).toBeUndefined();
  database.failures = 2;
  for (const times of [1, 2, 3]) {
    skipped += 60_000;
    await until("it cleans up", () => database.asked === times);
    await until("that has ended", () => times === 3 || logged.some((line) => line.includes("of the test")));
    expect([times, loop.notReadyReason()]).toEqual([times, undefined]);
  }
  expect(logged.filter((line) => line.includes("of the test"))).toEqual([
    'database not writable; retrying {"kind":"unavailable","reason":"of the test"}',
  ]);
});
