/** Notifications, polling and catching up; src/state/postgres/replica-sync.ts. */
import { setTimeout as delay } from "node:timers/promises";
import { Client, type QueryResultRow } from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { CatchUpProgress } from "../../../src/domain/ledger.js";
import { Database, type Statement } from "../../../src/state/postgres/database.js";
import { DatabaseError } from "../../../src/state/postgres/errors.js";
import { ReplicaSync, type ReplicaSyncOptions } from "../../../src/state/postgres/replica-sync.js";
import { Replica } from "../../../src/state/postgres/replica.js";
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

interface FollowOptions extends Partial<Pick<ReplicaSyncOptions, "database" | "onLost" | "onRecovered">> {
  /** Default true. */
  readonly polls?: boolean;
}

/** A running ReplicaSync with its replica, which listens. It ends with the test. */
async function follow({ polls = true, database = schema.database, ...callbacks }: FollowOptions = {}) {
  const ending = new AbortController();
  const { signal } = ending;
  const pause = async (ms: number): Promise<void> => {
    // The pause between polls is 1 s; the first pauses before reconnects are shorter.
    await delay(polls || ms < 1_000 ? ms : 600_000, undefined, { signal }).catch(() => undefined);
  };
  const replica = new Replica(database, { templates: fruits, contentId: "tests", cacheBytes: 1_000_000, clock });
  const options = {
    database,
    replica,
    contentId: CONTENT,
    clock,
    pause,
    signal,
    onLost: () => {},
    onRecovered: () => {},
    ...callbacks,
  };
  const sync = new ReplicaSync(options);
  const ended = sync.run();
  const end = () => {
    ending.abort();
    return within(SOON_MS, "the sync has ended", ended);
  };
  onTestFinished(end);
  await listening();
  await at(replica, 10);
  return { sync, replica, end };
}

const at = (replica: Replica, offset: number): Promise<void> =>
  until(`the replica is at ${offset}`, () => replica.status.offset === offset, SOON_MS);

/** Sessions whose latest statement is LISTEN. */
const listeners = () =>
  schema.sql<{ pid: number }>(
    "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%LISTEN%offledger_caught_up%' AND pid <> pg_backend_pid()",
  );
const listening = () => until("it listens", async () => (await listeners()).length === 1);

/** Plays the mirror: replies to each catch-up request after `catchUp`. Returns the request ids. */
async function mirror(catchUp: () => Promise<unknown>): Promise<string[]> {
  const client = new Client({ connectionString: schema.url });
  await client.connect();
  onTestFinished(() => client.end());
  const requests: string[] = [];
  client.on("notification", ({ payload = "" }) => {
    requests.push(payload);
    void catchUp().then(() => client.query("SELECT pg_notify('offledger_caught_up', $1)", [payload]));
  });
  await client.query("LISTEN offledger_catch_up_requested");
  return requests;
}

const followWithoutPolling = () => follow({ polls: false });

describe("a replica with a sync", () => {
  test("follows notifications without polling", async () => {
    const { replica } = await followWithoutPolling();
    for (const offset of [11, 12, 13]) {
      await writer.apply([{ active: fruit(`id-${offset}`) }], offset);
      await at(replica, offset);
    }
    await writer.replace([], 5);
    await at(replica, 5);
    expect(replica.status.failure).toBeUndefined();
  });

  test("follows by polling without notifications", async () => {
    const { replica } = await follow();
    // It looks when it begins and when it begins to listen: the first of these may be one of those.
    for (const offset of [11, 12, 13]) {
      await schema.sql("UPDATE offledger.state SET ledger_offset = $1", [offset]);
      await at(replica, offset);
    }
    expect(replica.status.failure).toBeUndefined();
  });

  test("listens again after its session is terminated, and refreshes at once", async () => {
    const { replica } = await followWithoutPolling();
    const [session] = await listeners();
    // Without a notification.
    await schema.sql("UPDATE offledger.state SET ledger_offset = 11");
    await schema.sql("SELECT pg_terminate_backend($1)", [session?.pid]);
    await at(replica, 11);
    await listening();
    await writer.replace([], 12);
    await at(replica, 12);
    expect((await listeners())[0]?.pid).not.toBe(session?.pid);
  });

  test("reports once that the database is lost, and once that it is back", async () => {
    const database = failing();
    const events: string[] = [];
    const { sync } = await follow({
      database,
      onLost: ({ message }) => events.push(message),
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
      expect(await within(SOON_MS, "it has given up", all(sync.catchUp(60_000)))).toEqual([]);
      expect(events).toEqual(expected.slice(0, -1));
      database.fails = () => false;
      await until("it is back", () => events.length === expected.length);
      expect(events).toEqual(expected);
    }
  });

  test("ends without leaving a session", async () => {
    const { replica, end } = await follow();
    await end();
    await until("no session listens", async () => (await listeners()).length === 0);
    await writer.apply([], 11);
    expect(replica.status.offset).toBe(10);
  });
});

async function all(progress: AsyncIterable<CatchUpProgress>): Promise<CatchUpProgress[]> {
  const yielded: CatchUpProgress[] = [];
  for await (const one of progress) yielded.push(one);
  return yielded;
}

const soon = (progress: AsyncIterable<CatchUpProgress>) => within(SOON_MS, "it is answered", all(progress));

describe("catchUp", () => {
  test("has reached the end when the mirror says so, and then the replica has what the mirror has written", async () => {
    let offset = 10;
    await mirror(() => writer.apply([{ active: fruit("b") }], ++offset));
    const { sync, replica } = await followWithoutPolling();
    expect((await soon(sync.catchUp(60_000))).at(-1)).toBe("reached");
    expect(replica.status.offset).toBe(11);
    expect((await soon(sync.catchUp(60_000))).at(-1)).toBe("reached");
    expect(replica.status.offset).toBe(12);
  });

  test("tells each move of the replica before", async () => {
    const { sync, replica } = await followWithoutPolling();
    const seen: (number | undefined)[] = [];
    let offset = 11;
    const first = delay(100).then(() => writer.apply([{ active: fruit("id-0") }], offset));
    for await (const progress of sync.catchUp(SOON_MS)) {
      await first;
      expect(progress).toBe("advanced");
      seen.push(replica.status.offset);
      if (offset === 14) break;
      // While the caller looks at the store, too.
      await writer.apply([{ active: fruit(`id-${offset}`) }], ++offset);
      await at(replica, offset);
    }
    expect(seen).toEqual([11, 12, 13, 14]);
  });

  test("waits for the reply to its own request, and gives up after its time", async () => {
    const { sync } = await followWithoutPolling();
    const catching = all(sync.catchUp(1_000));
    for (const payload of ["", "another request"]) {
      await schema.sql("SELECT pg_notify('offledger_caught_up', $1)", [payload]);
    }
    expect(await catching).toEqual([]);
  });

  test("shares a request among callers that come while one is being sent, and no others", async () => {
    const requests = await mirror(() => delay(200));
    const { sync } = await followWithoutPolling();
    const first = Array.from({ length: 20 }, () => soon(sync.catchUp(60_000)));
    await until("both have been sent", () => requests.length === 2);
    // The replies are not there yet. These may have seen what is later than the requests.
    const later = Array.from({ length: 20 }, () => soon(sync.catchUp(60_000)));
    expect(new Set((await Promise.all([...first, ...later])).flat())).toEqual(new Set(["reached"]));
    // One request for the later ones, and another for those that came while it was being sent. The second of the first ones
    // may have arrived before its sender knew.
    expect([3, 4]).toContain(requests.length);
    expect(new Set(requests).size).toBe(requests.length);
  });

  test("gives up if the database cannot be read after the reply", async () => {
    const database = failing();
    await mirror(async () => {
      database.fails = ({ text }) => !text.includes("pg_notify");
    });
    const { sync } = await follow({ database, polls: false });
    expect(await soon(sync.catchUp(60_000))).toEqual([]);
  });
});
