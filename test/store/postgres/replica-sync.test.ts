/** A replica follows the database, told or not, and has the mirror catch up; src/store/postgres/read/replica-sync.ts. */
import { setTimeout as delay } from "node:timers/promises";
import { Client, type QueryResultRow } from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { Database, type Statement } from "../../../src/store/postgres/database.js";
import { DatabaseError } from "../../../src/store/postgres/errors.js";
import { ReplicaSync, type ReplicaSyncOptions } from "../../../src/store/postgres/read/replica-sync.js";
import { Replica } from "../../../src/store/postgres/read/replica.js";
import { PostgresWriter } from "../../../src/store/postgres/write/postgres-writer.js";
import { fruit, fruits } from "../../fixtures/fruits.js";
import { clock, freshSchema, type Schema } from "../../fixtures/postgres-store.js";
import { until, within } from "../../fixtures/wait.js";

/** Longest that anything here may take that is to come soon, in milliseconds. */
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

interface Following {
  readonly feed: ReplicaSync;
  readonly replica: Replica;
  readonly ended: Promise<void>;
  readonly end: () => Promise<void>;
}

interface FollowOptions extends Partial<Pick<ReplicaSyncOptions, "database" | "onLost" | "onRecovered">> {
  /** Whether it looks by itself, from time to time; true where not said. */
  readonly looks?: boolean;
}

/** A feed that runs, and ends with the test, and its replica. */
function follow({ looks = true, database = schema.database, ...told }: FollowOptions = {}): Following {
  const ending = new AbortController();
  const { signal } = ending;
  const pause = async (ms: number): Promise<void> => {
    // What looks again and again does so every second, and to listen anew begins far sooner.
    await delay(looks || ms < 1_000 ? ms : 600_000, undefined, { signal }).catch(() => undefined);
  };
  const replica = new Replica(database, { templates: fruits, contentId: "tests", cacheBytes: 1_000_000, clock });
  const replicaSync = new ReplicaSync({
    database,
    replica,
    pause,
    signal,
    onLost: () => {},
    onRecovered: () => {},
    ...told,
  });
  const ended = replicaSync.run();
  const end = () => {
    ending.abort();
    return within(SOON_MS, "the feed has ended", ended);
  };
  onTestFinished(end);
  return { feed: replicaSync, replica, ended, end };
}

const at = (replica: Replica, offset: number): Promise<void> =>
  until(`the replica is at ${offset}`, () => replica.status.offset === offset, SOON_MS);

/** The sessions that listen, or have listened last. */
const listeners = () =>
  schema.sql<{ pid: number }>(
    "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%LISTEN%offledger_caught_up%' AND pid <> pg_backend_pid()",
  );
const listening = () => until("it listens", async () => (await listeners()).length === 1);

/** The mirror's side: hears questions, and answers each when `does` is done. */
async function mirror(does: () => Promise<unknown>): Promise<string[]> {
  const client = new Client({ connectionString: schema.url });
  await client.connect();
  onTestFinished(() => client.end());
  const questions: string[] = [];
  client.on("notification", ({ payload = "" }) => {
    questions.push(payload);
    void does().then(() => client.query("SELECT pg_notify('offledger_caught_up', $1)", [payload]));
  });
  await client.query("LISTEN offledger_catch_up_requested");
  return questions;
}

const fed = async (): Promise<Following> => {
  const following = follow({ looks: false });
  await listening();
  await at(following.replica, 10);
  return following;
};

describe("a replica that is fed", () => {
  test("follows what it is told, without looking by itself", async () => {
    const { replica } = follow({ looks: false });
    await listening();
    await at(replica, 10);
    for (const offset of [11, 12, 13]) {
      await writer.apply([{ active: fruit(`id-${offset}`) }], offset);
      await at(replica, offset);
    }
    await writer.replace([], 5);
    await at(replica, 5);
    expect(replica.status.failure).toBeUndefined();
  });

  test("follows what nobody tells", async () => {
    const { replica } = follow();
    await listening();
    await at(replica, 10);
    // It looks when it begins and when it begins to listen: the first of these may be one of those.
    for (const offset of [11, 12, 13]) {
      await schema.sql("UPDATE offledger.state SET ledger_offset = $1", [offset]);
      await at(replica, offset);
    }
    expect(replica.status.failure).toBeUndefined();
  });

  test("listens again when its session is terminated, and looks at once for what it missed", async () => {
    const { replica } = follow({ looks: false });
    await listening();
    await at(replica, 10);
    const [session] = await listeners();
    // Nobody tells of this.
    await schema.sql("UPDATE offledger.state SET ledger_offset = 11");
    await schema.sql("SELECT pg_terminate_backend($1)", [session?.pid]);
    await at(replica, 11);
    await listening();
    await writer.replace([], 12);
    await at(replica, 12);
    expect((await listeners())[0]?.pid).not.toBe(session?.pid);
  });

  test("is told once that the database is lost, and once that it is back", async () => {
    class Failing extends Database {
      isAway = false;

      override async query<R extends QueryResultRow>(statement: Statement, values: unknown[] = []): Promise<R[]> {
        if (this.isAway) throw new DatabaseError("unavailable", "of the test");
        return super.query<R>(statement, values);
      }
    }
    const database = new Failing(schema.url, 2);
    onTestFinished(() => database.close());
    const told: string[] = [];
    const { feed, replica } = follow({
      database,
      onLost: ({ message }) => told.push(message),
      onRecovered: () => told.push("back"),
    });
    await at(replica, 10);
    expect(told).toEqual([]);
    for (const expected of [
      ["of the test", "back"],
      ["of the test", "back", "of the test", "back"],
    ]) {
      database.isAway = true;
      expect(await Promise.all([feed.catchUp(10, 10), feed.catchUp(10, 10)])).toEqual([false, false]);
      expect(await feed.catchUp(10, 10)).toBe(false);
      expect(told).toEqual(expected.slice(0, -1));
      database.isAway = false;
      await Promise.all([feed.catchUp(10, 10), feed.catchUp(10, 10)]);
      expect(told).toEqual(expected);
    }
  });

  test("is fed no more at the end, which leaves no session behind", async () => {
    const { replica, end } = follow();
    await listening();
    await end();
    await until("no session listens", async () => (await listeners()).length === 0);
    await writer.apply([], 11);
    expect(replica.status.offset).toBe(10);
  });
});

describe("to catch up", () => {
  test("is true where the mirror has moved the store past the offset, and the replica is there then", async () => {
    let offset = 10;
    await mirror(() => writer.apply([{ active: fruit("b") }], ++offset));
    const { feed, replica } = await fed();
    expect(await within(SOON_MS, "it is told", feed.catchUp(10, 60_000))).toBe(true);
    expect(replica.status.offset).toBe(11);
    expect(await within(SOON_MS, "it is told", feed.catchUp(11, 60_000))).toBe(true);
    expect(replica.status.offset).toBe(12);
  });

  test("is false where the mirror had nothing to catch up with", async () => {
    const questions = await mirror(async () => {});
    const { feed } = await fed();
    expect(await within(SOON_MS, "it is told", feed.catchUp(10, 60_000))).toBe(false);
    expect(questions).toHaveLength(1);
    expect(await within(SOON_MS, "it is told", feed.catchUp(9, 60_000))).toBe(true);
  });

  test("waits for an answer to its own question", async () => {
    const { feed } = await fed();
    const catching = feed.catchUp(10, 1_500);
    for (const payload of ["", "another question"]) {
      await schema.sql("SELECT pg_notify('offledger_caught_up', $1)", [payload]);
    }
    await delay(300);
    // Had it taken one of them for its answer it would have looked too early for this.
    await schema.sql("UPDATE offledger.state SET ledger_offset = 11");
    expect(await catching).toBe(true);
  });

  test("is one question for all who come while another is under way", async () => {
    const questions = await mirror(() => delay(200));
    const { feed } = await fed();
    await within(SOON_MS, "all are told", Promise.all(Array.from({ length: 20 }, () => feed.catchUp(10, 60_000))));
    expect(questions).toHaveLength(2);
    expect(new Set(questions).size).toBe(2);
  });

  test("waits no longer than it is told where nobody answers", async () => {
    const { feed } = await fed();
    expect(await within(SOON_MS, "it has given up", feed.catchUp(10, 300))).toBe(false);
  });

  test("waits no longer for who comes while another waits", async () => {
    const { feed } = await fed();
    const [first, second] = [feed.catchUp(10, 4_000), feed.catchUp(10, 4_000)];
    expect(await within(6_500, "both have given up", Promise.all([first, second]))).toEqual([false, false]);
  });

  test("says what the store has, where nobody answers", async () => {
    const { feed } = await fed();
    await schema.sql("UPDATE offledger.state SET ledger_offset = 11");
    expect(await within(SOON_MS, "it has given up", feed.catchUp(10, 100))).toBe(true);
  });
});
