/** A PostgreSQL for benchmarks: one of its own, or that of OFFLEDGER_TEST_DATABASE_URL. */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { migrateDatabase } from "../../src/app/app.js";
import { LOAD_CORE, pinned } from "../processes/pinning.js";
import { within } from "../wait.js";
import type { Kept } from "./embedded-process.js";

/** Longest that it may take to start, and to stop and delete what it has, in milliseconds. */
const BOUND_MS = 60_000;

export interface PostgresServer {
  /** Which it is, and how it is set, in few words. */
  readonly described: string;
  /** A new database with the schema in it. */
  fresh(): Promise<Database>;
  stop(): Promise<void>;
}

export interface Database {
  readonly url: string;
  /** Runs one statement, over a connection of the bench. */
  query<R extends pg.QueryResultRow>(text: string): Promise<R | undefined>;
  /** Deletes it. */
  stop(): Promise<void>;
}

export async function startPostgres(): Promise<PostgresServer> {
  const given = process.env["OFFLEDGER_TEST_DATABASE_URL"];
  const { url, stop } =
    given === undefined || given === "" ? await keep() : { url: given, stop: () => Promise.resolve() };
  try {
    return { described: await describe(url, url === given), fresh: () => fresh(url), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Starts one beside the load: what is measured has the other core. */
async function keep(): Promise<{ readonly url: string; readonly stop: () => Promise<void> }> {
  const script = fileURLToPath(new URL("embedded-process.js", import.meta.url));
  const [command = process.execPath, ...args] = pinned(LOAD_CORE, [process.execPath, script]);
  // Apart from our group: what interrupts the bench is not to interrupt the cleaning up behind it.
  const keeper = spawn(command, args, { stdio: ["ignore", "ignore", "inherit", "ipc"], detached: true });
  const exit = once(keeper, "exit");
  const stop = async () => {
    if (keeper.connected) keeper.disconnect();
    await within(BOUND_MS, "PostgreSQL ends", exit);
  };
  try {
    const ended = exit.then(() => [{ error: "its keeper has ended" }]);
    const said = Promise.race([once(keeper, "message"), ended]);
    const [kept] = (await within(BOUND_MS, "PostgreSQL starts", said)) as [Kept];
    if ("error" in kept) throw new Error(`PostgreSQL does not start: ${kept.error}`);
    return { url: kept.url, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The settings that its figures depend on most. */
const SETTINGS = ["fsync", "synchronous_commit", "shared_buffers", "max_wal_size"];

async function describe(url: string, isGiven: boolean): Promise<string> {
  const client = await connected(url);
  try {
    const show = async (name: string): Promise<string> => {
      const { rows } = await client.query<{ value: string }>("SELECT current_setting($1) AS value", [name]);
      return rows[0]?.value ?? "";
    };
    const parts = [`PostgreSQL ${await show("server_version")}${isGiven ? " that was given" : ""}`];
    for (const name of SETTINGS) parts.push(`${name} ${await show(name)}`);
    return parts.join(", ");
  } finally {
    await client.end();
  }
}

async function fresh(server: string): Promise<Database> {
  const name = `bench_${randomBytes(8).toString("hex")}`;
  await execute(server, `CREATE DATABASE ${name}`);
  const drop = () => execute(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  const url = new URL(server);
  url.pathname = name;
  try {
    await migrateDatabase(url);
    const client = await connected(url.href);
    return {
      url: url.href,
      query: async <R extends pg.QueryResultRow>(text: string) => (await client.query<R>(text)).rows[0],
      async stop() {
        await client.end();
        await drop();
      },
    };
  } catch (error) {
    await drop();
    throw error;
  }
}

async function execute(server: string, statement: string): Promise<void> {
  const client = await connected(server);
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

async function connected(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  // A connection that breaks is told by the next that uses it.
  client.on("error", () => undefined);
  await client.connect();
  return client;
}
