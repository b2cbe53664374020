/** The PostgreSQL of the benchmark: an embedded one, or that of OFFLEDGER_TEST_DATABASE_URL. */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { migrateDatabase } from "../../src/cli/migrate.js";
import { LOAD_CORE, pinned } from "../processes/pinning.js";
import { withTimeout } from "../wait.js";
import type { StartResult } from "./embedded-process.js";

/** For its start, and for its end with the deletion of its data. */
const TIMEOUT_MS = 60_000;

export interface PostgresServer {
  readonly description: string;
  createDatabase(): Promise<Database>;
  stop(): Promise<void>;
}

export interface Database {
  readonly url: string;
  /** Runs a statement on a connection of the bench; returns the first row. */
  query<R extends pg.QueryResultRow>(text: string): Promise<R | undefined>;
  stop(): Promise<void>;
}

export async function startPostgres(): Promise<PostgresServer> {
  const externalUrl = process.env["OFFLEDGER_TEST_DATABASE_URL"];
  const { url, stop } =
    externalUrl === undefined || externalUrl === ""
      ? await startEmbedded()
      : { url: externalUrl, stop: () => Promise.resolve() };
  try {
    return { description: await describe(url, url === externalUrl), createDatabase: () => createDatabase(url), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startEmbedded(): Promise<{ readonly url: string; readonly stop: () => Promise<void> }> {
  const script = fileURLToPath(new URL("embedded-process.js", import.meta.url));
  const [command = process.execPath, ...args] = pinned(LOAD_CORE, [process.execPath, script]);
  // In its own process group: Ctrl-C must not interrupt its cleanup.
  const child = spawn(command, args, { stdio: ["ignore", "ignore", "inherit", "ipc"], detached: true });
  const exit = once(child, "exit");
  const stop = async () => {
    if (child.connected) child.disconnect();
    await withTimeout(TIMEOUT_MS, "PostgreSQL stops", exit);
  };
  try {
    const ended = exit.then(() => [{ error: "its process exited" }]);
    const message = Promise.race([once(child, "message"), ended]);
    const [result] = (await withTimeout(TIMEOUT_MS, "PostgreSQL starts", message)) as [StartResult];
    if ("error" in result) throw new Error(`PostgreSQL did not start: ${result.error}`);
    return { url: result.url, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The settings that affect the figures most. */
const SETTINGS = ["fsync", "synchronous_commit", "shared_buffers", "max_wal_size"];

async function describe(url: string, isExternal: boolean): Promise<string> {
  const client = await connectClient(url);
  try {
    const show = async (name: string): Promise<string> => {
      const { rows } = await client.query<{ value: string }>("SELECT current_setting($1) AS value", [name]);
      return rows[0]?.value ?? "";
    };
    const suite = [`PostgreSQL ${await show("server_version")}${isExternal ? " (external)" : ""}`];
    for (const name of SETTINGS) suite.push(`${name} ${await show(name)}`);
    return suite.join(", ");
  } finally {
    await client.end();
  }
}

async function createDatabase(server: string): Promise<Database> {
  const name = `bench_${randomBytes(8).toString("hex")}`;
  await execute(server, `CREATE DATABASE ${name}`);
  const drop = () => execute(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  const url = new URL(server);
  url.pathname = name;
  try {
    await migrateDatabase(url);
    const client = await connectClient(url.href);
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
  const client = await connectClient(server);
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

async function connectClient(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  // The next query on a broken connection fails.
  client.on("error", () => undefined);
  await client.connect();
  return client;
}
