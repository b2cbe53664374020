/** The database of deploy/compose.yaml: init.sql on a real server, and the password from a file. */
import { chmod, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { Client } from "pg";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { temporaryFile } from "../fixtures/files.js";
import { main, run } from "../fixtures/program.js";
import { type OwnServer, ownServer } from "../fixtures/postgres.js";

const PASSWORD = "it's a :'password'";
let server: OwnServer;
let url: URL;

/** Runs the file as psql does: `\getenv` reads a variable, and `:'password'` is its value as a literal. */
beforeAll(async () => {
  server = await ownServer();
  const text = await readFile("deploy/postgres/init.sql", "utf8");
  if (!text.includes(String.raw`\getenv password POSTGRES_PASSWORD`)) throw new Error("init.sql has another variable");
  const statements = text.replaceAll(/^(?:--|\\).*\n/gm, "").split(";\n");
  const client = new Client({ connectionString: server.url });
  await client.connect();
  try {
    for (const statement of statements) {
      await client.query(statement.replace(":'password'", () => client.escapeLiteral(PASSWORD)));
    }
  } finally {
    await client.end();
  }
  url = new URL(server.url);
}, 60_000);
afterAll(() => server.remove());

const connected = async (user: string, password: string): Promise<Client> => {
  const client = new Client({ host: url.hostname, port: Number(url.port), database: "offledger", user, password });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
};

test("the role of the services has no further privileges", async () => {
  const client = await connected("offledger", PASSWORD);
  const { rows } = await client.query(
    "SELECT rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls FROM pg_roles WHERE rolname = current_user",
  );
  expect(rows.flatMap((row: object) => Object.values(row))).toEqual([false, false, false, false, false]);
});

test("the superuser cannot log in over the network", async () => {
  expect(url.password).not.toBe("");
  const client = new Client({ connectionString: url.href });
  await expect(client.connect()).rejects.toMatchObject({ code: "28P01" });
});

/** Migrates with a URL without a password, as in compose.yaml, and a password file of a mode. */
async function migrate(mode: number): Promise<{ code: number | null; out: string; err: string }> {
  const password = PASSWORD.replaceAll(":", String.raw`\:`);
  const path = await temporaryFile("pgpass", `${url.hostname}:${url.port}:offledger:offledger:${password}\n`);
  await chmod(path, mode);
  const env = { OFFLEDGER_DATABASE_URL: `postgres://offledger@${url.host}/offledger`, PGPASSFILE: path };
  return run(process.execPath, [main, "migrate"], { cwd: tmpdir(), env });
}

test("a password file that others may read is ignored", async () => {
  const { code, err } = await migrate(0o644);
  expect(code).toBeGreaterThan(0);
  expect(err).toContain("password");
});

test("the password is read from PGPASSFILE", async () => {
  const { code, out } = await migrate(0o600);
  expect({ code, out }).toEqual({
    code: 0,
    out: expect.stringMatching(/^schema migrated from version 0 to \d+\n$/),
  });
});
