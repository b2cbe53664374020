/** A follower of a database: notifications, polling and catching up. test/state/follower.test.ts shows the rest without one. */
import { setTimeout as delay } from "node:timers/promises";
import { Client, type QueryResultRow } from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { CatchUpProgress } from "../../../src/domain/ledger.js";
import { Follower, type FollowerOptions } from "../../../src/state/follower.js";
import { Database, type Statement } from "../../../src/state/postgres/database.js";
import { DatabaseError } from "../../../src/state/postgres/errors.js";
import { PostgresLog } from "../../../src/state/postgres/log.js";
import { PostgresWriter } from "../../../src/state/postgres/writer.js";
import { fruit, fruits } from "../../fixtures/fruits.js";
import { CONTENT, clock, freshSchema, type Schema } from "../../fixtures/postgres-schema.js";
import { until, within } from "../../fixtures/wait.js";

/** A generous bound for what should happen at once. */
const SOON_MS = 5_000;

let schema: Schema;
let writer: PostgresWriter;
beforeAll(async () => {
  schema = await freshSchema();
});
afterAll(() => schema.drop());
beforeEach(async () => {
  writer = await PostgresWriter.begin(schema.database, 0, { contentId: "tests", origin: "tests" }, () => {});
  await writer.replace([fruit("a")], 10);
  return () => schema.empty();
});

/** A database that fails while a test says so of a statement. */
class Failing extends Database {
  fails: (statement: Statement) => boolean = () => false;

  override async query<R extends QueryResultRow>(statement: Statement, values: unknown[] = []): Promise<R[]> {
    if (this.fails(statement)) throw new DatabaseError("unavailable", "of the test");
    return super.query<R>(statement, values);
  }
}

function failing(): Failing {
  const database = new Failing({ url: schema.url, maxConnections: 2 });
  onTestFinished(() => database.close());
  return database;
}

interface FollowOptions extends Partial<Pick<FollowerOptions, "onLost" | "onRecovered">> {
  readonly database?: Database;
  /** Default true. */
  readonly polls?: boolean;
}

/** A running follower, which listens. It ends with the test. */
async function follow({ polls = true, database = schema.database, ...callbacks }: FollowOptions = {}) {
  const ending = new AbortController();
  const { signal } = ending;
  const pause = async (ms: number): Promise<void> => {
    // The pause between polls is 1 s; the first pauses before reconnects are shorter.
    await delay(polls || ms < 1_000 ? ms : 600_000, undefined, { signal }).catch(() => undefined);
  };
  const log = new PostgresLog(database, { templates: fruits, contentId: CONTENT });
  const ignored = { onLost: () => {}, onRecovered: () => {}, onTooLarge: () => {}, onNearlyFull: () => {} };
  const follower = new Follower({ log, clock, pause, signal, ...ignored, ...callbacks });
  const ended = follower.run();
  const end = () => {
    ending.abort();
    return within(SOON_MS, "it has ended", ended);
  };
  onTestFinished(end);
  await listening();
  await at(follower, 10);
  return { follower, end };
}

const at = (follower: Follower, offset: number): Promise<void> =>
  until(`it is at ${offset}`, () => follower.status.offset === offset, SOON_MS);

/** Sessions whose latest statement is LISTEN. */
const listeners = () =>
  schema.sql<{ pid: number }>(
    "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%LISTEN%offledger_caught_up%' AND pid <> pg_backend_pid()",
  );
const listening = () => until("it listens", async () => (await listeners()).length === 1);

/** Plays the mirror: replies to each catch-up request after `catchUp`. */
async function mirror(catchUp: () => Promise<unknown>): Promise<void> {
  const client = new Client({ connectionString: schema.url });
  await client.connect();
  onTestFinished(() => client.end());
  client.on("notification", ({ payload = "" }) => {
    void catchUp().then(() => client.query("SELECT pg_notify('offledger_caught_up', $1)", [payload]));
  });
  await client.query("LISTEN offledger_catch_up_requested");
}

const followWithoutPolling = () => follow({ polls: false });

describe("a follower", () => {
  test("follows notifications without polling", async () => {
    const { follower } = await followWithoutPolling();
    for (const offset of [11, 12, 13]) {
      await writer.apply([{ active: fruit(`id-${offset}`) }], offset);
      await at(follower, offset);
    }
    await writer.replace([], 5);
    await at(follower, 5);
    expect(follower.status.failure).toBeUndefined();
  });

  test("follows by polling without notifications", async () => {
    const { follower } = await follow();
    // It looks when it begins and when it begins to listen: the first of these may be one of those.
    for (const offset of [11, 12, 13]) {
      await schema.sql("UPDATE offledger.state SET ledger_offset = $1", [offset]);
      await at(follower, offset);
    }
    expect(follower.status.failure).toBeUndefined();
  });

  test("listens again after its session is terminated, and refreshes at once", async () => {
    const { follower } = await followWithoutPolling();
    const [session] = await listeners();
    // Without a notification.
    await schema.sql("UPDATE offledger.state SET ledger_offset = 11");
    await schema.sql("SELECT pg_terminate_backend($1)", [session?.pid]);
    await at(follower, 11);
    await listening();
    await writer.replace([], 12);
    await at(follower, 12);
    expect((await listeners())[0]?.pid).not.toBe(session?.pid);
  });

  test("reports once that the database is lost, and once that it is back", async () => {
    const database = failing();
    const events: string[] = [];
    const { follower } = await follow({
      database,
      onLost: (error) => events.push((error as Error & { readonly cause: Error }).cause.message),
      onRecovered: () => events.push("back"),
    });
    expect(events).toEqual([]);
    for (const expected of [
      ["of the test", "back"],
      ["of the test", "back", "of the test", "back"],
    ]) {
      database.fails = () => true;
      await until("it is lost", () => events.length === expected.length - 1);
      // There is nobody to ask: the wait ends at once.
      expect(await within(SOON_MS, "it has given up", all(follower.catchUp(60_000)))).toEqual([]);
      expect(events).toEqual(expected.slice(0, -1));
      database.fails = () => false;
      await until("it is back", () => events.length === expected.length);
      expect(events).toEqual(expected);
    }
  });

  test("ends without leaving a session", async () => {
    const { follower, end } = await follow();
    await end();
    await until("no session listens", async () => (await listeners()).length === 0);
    await writer.apply([], 11);
    expect(follower.status.offset).toBe(10);
  });
});

async function all(progress: AsyncIterable<CatchUpProgress>): Promise<CatchUpProgress[]> {
  const yielded: CatchUpProgress[] = [];
  for await (const one of progress) yielded.push(one);
  return yielded;
}

test("catchUp has reached the end when the mirror says so, and then the follower has what the mirror has written", async () => {
  let offset = 10;
  await mirror(() => writer.apply([{ active: fruit("b") }], ++offset));
  const { follower } = await followWithoutPolling();
  for (const expected of [11, 12]) {
    const progress = await within(SOON_MS, "it is answered", all(follower.catchUp(60_000)));
    expect([progress.at(-1), follower.status.offset]).toEqual(["reached", expected]);
  }
});
