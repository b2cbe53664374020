/** PgBouncer, as Debian packages it, in front of a server. */
import { spawnSync } from "node:child_process";
import { chownSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { freePort } from "../../fixtures/free-port.js";
import { Program } from "../../fixtures/program.js";

const isRoot = process.getuid?.() === 0;
/** It refuses to run as root. The numbers are those of Debian. */
const NOBODY = { name: "nobody", uid: 65_534, gid: 65_534 };

export const isInstalled = spawnSync("pgbouncer", ["--version"]).status === 0;

/** Starts one with further settings. Returns the URL of the same database by way of it. */
export async function startPooler(databaseUrl: string, settings: Readonly<Record<string, string>>): Promise<string> {
  const url = new URL(databaseUrl);
  const folder = await mkdtemp(join(tmpdir(), "offledger-pgbouncer-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const port = await freePort();
  const all = {
    listen_addr: "127.0.0.1",
    listen_port: String(port),
    unix_socket_dir: "",
    auth_type: "scram-sha-256",
    auth_file: join(folder, "users.txt"),
    ...settings,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}\n`);
  const databases = `[databases]\n* = host=${url.hostname} port=${url.port}\n[pgbouncer]\n`;
  const files = { "pgbouncer.ini": databases + lines.join(""), "users.txt": `"${url.username}" "${url.password}"\n` };
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name);
    await writeFile(path, content, { mode: 0o600 });
    if (isRoot) chownSync(path, NOBODY.uid, NOBODY.gid);
  }
  if (isRoot) chownSync(folder, NOBODY.uid, NOBODY.gid);
  const user = isRoot ? ["-u", NOBODY.name] : [];
  const program = new Program("pgbouncer", [...user, join(folder, "pgbouncer.ini")], { cwd: folder });
  await program.printed("process up");
  url.host = `127.0.0.1:${port}`;
  return url.href;
}
