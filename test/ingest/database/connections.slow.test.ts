/** Connections to a database as operators have them: by way of a pooler, fewer than wanted, and with a password that changes. */
import { execFileSync } from "node:child_process";
import { mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Client } from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { Database } from "../../../src/state/postgres/database.js";
import { freshDatabase } from "../../fixtures/postgres.js";
import { freshSchema } from "../../fixtures/postgres-schema.js";
import type { Program } from "../../fixtures/program.js";
import { until } from "../../fixtures/wait.js";
import { Pairs } from "./pairs.js";
import { isInstalled, startPooler } from "./pooler.js";
import { askAccept, askAny, Caller } from "./queries.js";
import { Random } from "./random.js";
import { Role } from "./role.js";
import { becomesReady, command, inBackground, listening, logs, onLedger, unreadiness, WRITES } from "./services.js";

if (!isInstalled) console.warn("skipped: pgbouncer is not installed");

async function emptyDatabase(): Promise<string> {
  const database = await freshDatabase();
  onTestFinished(() => database.drop());
  return database.url;
}

const times = (program: Program, words: string): number => program.err.split(words).length - 1;

test.skipIf(!isInstalled)("a session pooler works as it is, and the lease passes from a frozen mirror on", async () => {
  const databaseUrl = await startPooler(await emptyDatabase(), { pool_mode: "session" });
  expect((await command("migrate", { databaseUrl }).ended()).code).toBe(0);
  const pairs = new Pairs(10);
  const { ledgerUrl } = (await onLedger(pairs, databaseUrl)).settings;
  const first = command("mirror", { databaseUrl, ledgerUrl });
  await logs(first, WRITES);
  const second = command("mirror", { databaseUrl, ledgerUrl });
  await listening(second);
  const url = await listening(command("api", { databaseUrl }));
  await becomesReady(url);
  const isServed = async () => {
    const { tags } = pairs.replace(0);
    await until("an update is served", async () => (await askAccept(url, 0, tags[0] ?? "0.0")).status === 200);
  };
  await isServed();
  first.signal("SIGSTOP");
  await logs(second, WRITES);
  await isServed();
});

test.skipIf(!isInstalled).each([
  ["of one connection", { default_pool_size: "1" }, 0],
  ["of idle connections", {}, 2],
  ["of idle connections that it gives in turn", { server_round_robin: "1" }, 2],
])("a pooler in transaction mode, %s, is refused at the start", async (_what, settings, idle) => {
  const direct = await emptyDatabase();
  expect((await command("migrate", { databaseUrl: direct }).ended()).code).toBe(0);
  const databaseUrl = await startPooler(direct, { pool_mode: "transaction", ...settings });
  await makeIdle(databaseUrl, idle);
  for (const name of ["api", "mirror", "serve"]) {
    const { code, out, err } = await command(name, { databaseUrl }).ended();
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err.split("\n").filter((line) => line.startsWith("offledger: "))).toEqual([
      "offledger: OFFLEDGER_DATABASE_URL: the database is behind a pooler in transaction mode: use its session mode, " +
        "or the address of the server itself",
    ]);
  }
});

/** Leaves connections behind in a pooler. */
async function makeIdle(databaseUrl: string, count: number): Promise<void> {
  const clients = Array.from({ length: count }, () => new Client({ connectionString: databaseUrl }));
  for (const client of clients) {
    await client.connect();
    await client.query("BEGIN");
  }
  for (const client of clients) await client.query("COMMIT");
  for (const client of clients) await client.end();
}

/** A mirror as the owner of a database, or as the role of the replica, whose role and connections a test changes. */
async function startReplica(mirrorsAs: "owner" | "role", connections = -1) {
  const databaseUrl = await emptyDatabase();
  const pairs = new Pairs(10);
  const { ledgerUrl } = (await onLedger(pairs, databaseUrl)).settings;
  const role = await Role.create(databaseUrl);
  await role.limitConnections(connections);
  const asRole = { databaseUrl: role.url, more: { DATABASE_PASSWORD_FILE: role.passwordFile } };
  const mirror = command("mirror", { ...(mirrorsAs === "owner" ? { databaseUrl } : asRole), ledgerUrl });
  await logs(mirror, WRITES);
  const api = command("api", asRole);
  const url = await listening(api);
  await becomesReady(url);
  return { role, pairs, api, url, mirror };
}

/** Asks for all that the ledger keeps changing, by a number of callers. */
function load(url: string, pairs: Pairs, callers: number) {
  const caller = new Caller();
  const background = inBackground(
    (signal) => pairs.keepChanging(new Random(7), 5, signal),
    ...Array.from({ length: callers }, (_, index) => (signal: AbortSignal) => {
      const random = new Random(index);
      return caller.keepAsking(signal, async () => caller.note(await askAny(url, pairs, random)));
    }),
  );
  return { caller, background };
}

const RUNNING = "SELECT FROM pg_stat_activity WHERE state = 'active' AND query = 'SELECT pg_sleep(60)'";

const ALL_BUSY = "SELECT FROM pg_stat_activity WHERE state = 'active' AND query = 'SELECT pg_sleep(1)'";

const SHORT = "the database gives no further connection; requests wait";
const AGAIN = "the database gives further connections again";
const UNREADABLE = "database not readable";

test("with three connections no request fails, and the log says once that there are no more, and when there are", async () => {
  const { role, pairs, api, url } = await startReplica("owner", 3);
  const { caller, background } = load(url, pairs, 30);
  const said = () => [SHORT, AGAIN, UNREADABLE].map((words) => times(api, words));
  await logs(api, SHORT);
  await until("many have asked", () => caller.answers > 500);
  // One that is lost is replaced: that is no further one.
  expect(await role.terminate("FROM offledger.state", 1)).toBe(1);
  await until("many more have asked", () => caller.answers > 1_500);
  expect(await unreadiness(url)).toBeUndefined();
  expect(said()).toEqual([1, 0, 0]);
  await role.limitConnections(-1);
  await logs(api, AGAIN);
  await until("they go on", () => caller.answers > 2_000);
  await background.end();
  expect(caller.wrong).toEqual([]);
  expect(said()).toEqual([1, 1, 0]);
});

test("a password that is rotated loses no request, and the mirror goes on without a snapshot", async () => {
  const { role, pairs, api, url, mirror } = await startReplica("role");
  const { caller, background } = load(url, pairs, 10);
  // What is under way, too, when all connections are lost.
  const turns = [200, 0];
  for (const [turn, answers] of turns.entries()) {
    const before = caller.answers;
    // New connections fail for as long.
    await role.rotate(() => delay(150));
    await until("requests go on", () => caller.answers >= before + answers);
    // Lease, notifications, and queries of each.
    expect(await role.terminate()).toBeGreaterThan(3);
    await logs(mirror, WRITES, turn + 2);
    const { offset } = pairs.now;
    const isServed = async () => (await askAccept(url, 0, pairs.now.tags[0] ?? "0.0")).status === 200;
    await until("an offer of now is served", async () => pairs.now.offset > offset && (await isServed()));
  }
  await background.end();
  expect(caller.wrong).toEqual([]);
  expect(caller.answers).toBeGreaterThan(400);
  expect(times(mirror, "snapshot of the ledger loaded")).toBe(1);
  expect(times(api, UNREADABLE)).toBe(0);
});

describe("what was refused while another connection was open is not told once that is lost", () => {
  /** A role, and a database with a query that is not repeated. */
  async function busy(passwordFile?: string) {
    const schema = await freshSchema();
    onTestFinished(() => schema.drop());
    const role = await Role.create(schema.url);
    const refusals: (string | undefined)[] = [];
    const database = new Database({
      url: role.url,
      passwordFile: passwordFile ?? role.passwordFile,
      maxConnections: 4,
      onShortage: (error) => void refusals.push(error?.kind),
    });
    onTestFinished(() => database.close());
    const query = database.query({ name: "busy", text: "SELECT pg_sleep(60)" }).catch((error: unknown) => error);
    const isBusy = async () => (await schema.sql(RUNNING)).length > 0;
    const next = () => database.read({ name: "next", text: "SELECT 1" });
    const end = async () => {
      expect(await role.terminate("pg_sleep")).toBe(1);
      expect(await query).toMatchObject({ kind: "unavailable" });
    };
    return { role, refusals, database, isBusy, next, end };
  }

  test("to those who wait", async () => {
    const { role, refusals, database, isBusy, next, end } = await busy();
    await until("a query runs", isBusy);
    const reads: Promise<unknown[]>[] = [];
    await role.rotate(async () => {
      reads.push(next(), next(), next());
      await until("each was refused a connection", () => database.pool.inUse === 1);
    });
    expect(refusals).toEqual(["denied"]);
    await end();
    expect((await Promise.all(reads)).map((rows) => rows.length)).toEqual([1, 1, 1]);
  });

  test("nor to whom it is refused only then", async () => {
    const folder = await mkdtemp(join(tmpdir(), "offledger-fifo-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    // Each connection waits for its password.
    const fifo = join(folder, "password");
    execFileSync("mkfifo", [fifo]);
    const { role, refusals, isBusy, next, end } = await busy(fifo);
    const { password } = new URL(role.login);
    const right = decodeURIComponent(password);
    await writeFile(fifo, right);
    await until("a query runs", isBusy);
    const read = next();
    const wrong = await open(fifo, "w");
    await end();
    await wrong.writeFile("wrong");
    await wrong.close();
    await until("it is refused", () => refusals.length > 0);
    await writeFile(fifo, right);
    expect(await read).toHaveLength(1);
  });
});

test("that all connections are in use is no shortage", async () => {
  const schema = await freshSchema();
  onTestFinished(() => schema.drop());
  const refusals: (string | undefined)[] = [];
  const database = new Database({
    url: schema.url,
    maxConnections: 2,
    timeouts: { connectMs: 300, statementMs: 5_000 },
    onShortage: (error) => void refusals.push(error?.message),
  });
  onTestFinished(() => database.close());
  const busy = [1, 2].map(() => database.read({ name: "busy", text: "SELECT pg_sleep(1)" }));
  await until("all are in use", async () => (await schema.sql(ALL_BUSY)).length === 2);
  const waiting = database.read({ name: "next", text: "SELECT 1" }).catch((error: unknown) => error);
  expect(await waiting).toMatchObject({ kind: "unavailable" });
  await Promise.all(busy);
  expect(await database.read({ name: "next", text: "SELECT 1" })).toHaveLength(1);
  expect(refusals).toEqual([]);
});
