/** The commands on a database, as processes: start, error messages and end. */
import { createServer } from "node:net";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { Client } from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { allInstrumentConfigurations } from "../../fixtures/requests.js";
import { freshDatabase, ownServer } from "../../fixtures/postgres.js";
import type { Program } from "../../fixtures/program.js";
import { until } from "../../fixtures/wait.js";
import { Participant } from "../../scripted-participant/participant.js";
import { Pairs } from "./pairs.js";
import { ask, becomesReady, command, listening, logs, unreadiness, WRITES } from "./services.js";

async function fresh(): Promise<string> {
  const database = await freshDatabase();
  onTestFinished(() => database.drop());
  return database.url;
}

async function participant(): Promise<string> {
  const { url, stop } = await started(new Pairs(10));
  onTestFinished(stop);
  return url;
}

async function started({ ledger }: Pairs): Promise<{ url: string; stop: () => Promise<void> }> {
  const made = await Participant.start({ ledger, checkpointMs: 20 });
  return { url: made.url, stop: () => made.stop() };
}

async function sql(url: string, ...statements: readonly string[]): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}

/** A failing program prints the reason in a line or two, without credentials from the URL. */
async function expectRefusal(program: Program, code: number, words: RegExp, secret: string): Promise<void> {
  const { code: ended, out, err } = await program.ended();
  expect({ ended, out }).toEqual({ ended: code, out: "" });
  const said = err.split("\n").filter((line) => line.startsWith("offledger: "));
  expect(said).toHaveLength(1);
  expect(said[0]).toMatch(words);
  expect(err).not.toContain(secret);
}

const secretOf = (url: string): string => new URL(url).password;

describe.each(["api", "mirror", "serve"])("offledger %s", (name) => {
  test("does not begin on a schema that is newer", async () => {
    const databaseUrl = await fresh();
    expect((await command("migrate", { databaseUrl }).ended()).code).toBe(0);
    await sql(databaseUrl, "INSERT INTO offledger.migrations (version) VALUES (77)");
    const words =
      /^offledger: OFFLEDGER_DATABASE_URL: the database has schema version 77, .* supports up to \d+: run the newer/;
    await expectRefusal(command(name, { databaseUrl }), 2, words, secretOf(databaseUrl));
  });

  test("does not begin where the password is wrong, and does not show it", async () => {
    const url = new URL(await fresh());
    url.password = "not-the-password";
    const words = /^offledger: OFFLEDGER_DATABASE_URL: database error: password authentication failed/;
    await expectRefusal(command(name, { databaseUrl: url.href }), 2, words, "not-the-password");
  });

  test("waits for an unavailable database at start, becomes ready when it is up, and ends in time", async () => {
    const server = await ownServer();
    onTestFinished(() => server.remove());
    const [databaseUrl, ledgerUrl] = [server.url, await participant()];
    // What an api answers, a mirror puts there.
    if (name === "api") await listening(command("mirror", { databaseUrl, ledgerUrl }));
    await server.stop();
    const program = command(name, { databaseUrl, ledgerUrl });
    const url = await listening(program);
    expect((await ask(`${url}/livez`)).status).toBe(200);
    expect(await unreadiness(url)).toMatch(/^not ready: (the database cannot be reached|the service is starting)$/);
    // A mirror has no such operation.
    expect((await ask(url + allInstrumentConfigurations)).status).toBe(name === "mirror" ? 404 : 503);
    await server.start();
    await becomesReady(url);
    const begun = performance.now();
    program.stop();
    expect((await program.ended()).code).toBe(0);
    expect(performance.now() - begun).toBeLessThan(6_000);
    expect(program.err + program.out).not.toContain(secretOf(databaseUrl));
  });
});

test("an invalid database URL is rejected, and not shown", async () => {
  const urls = [
    "mysql://user:hunter2@host/db",
    "postgres//user:hunter2@host",
    "hunter2",
    "postgres://user:hunter2@:x/db",
  ];
  const words =
    /OFFLEDGER_DATABASE_URL must be a URL that starts with postgres:\/\/ or postgresql:\/\/, got another value/;
  for (const [index, databaseUrl] of urls.entries()) {
    const name = ["api", "mirror", "serve", "migrate"][index] ?? "api";
    await expectRefusal(command(name, { databaseUrl }), 2, words, "hunter2");
  }
});

test("offledger mirror serves health checks only", async () => {
  const program = command("mirror", { databaseUrl: await fresh(), ledgerUrl: await participant() });
  const url = await listening(program);
  await becomesReady(url);
  expect(await ask(`${url}/livez`)).toMatchObject({ status: 200, body: { status: "ok" } });
  expect((await ask(url + allInstrumentConfigurations)).status).toBe(404);
  expect((await ask(`${url}/api/utilities/v0/operator`)).status).toBe(404);
  program.stop();
  expect((await program.ended()).code).toBe(0);
});

test.each(["mirror", "serve"])(
  "offledger %s stops in time on request, also while it connects or loads",
  async (name) => {
    const ledgerUrl = await participant();
    // From when it listens to when it has a snapshot is a tenth of a second.
    for (const [index, pauseMs] of [0, 10, 20, 30, 40, 60, 90, 150].entries()) {
      const program = command(name, { databaseUrl: await fresh(), ledgerUrl });
      await listening(program);
      await delay(pauseMs);
      const begun = performance.now();
      program.stop();
      expect({ index, code: (await program.ended()).code }).toEqual({ index, code: 0 });
      expect(performance.now() - begun).toBeLessThan(6_000);
    }
  },
);

test("offledger migrate brings the schema up to date once, also where several do it at the same time", async () => {
  const databaseUrl = await fresh();
  const ended = await Promise.all([1, 2, 3].map(() => command("migrate", { databaseUrl }).ended()));
  expect(ended.map(({ code }) => code)).toEqual([0, 0, 0]);
  const said = ended.map(({ out }) => out).toSorted();
  expect(said.filter((text) => /^schema migrated from version 0 to \d+\n$/.test(text))).toHaveLength(1);
  expect(said.filter((text) => /^schema is up to date \(version \d+\)\n$/.test(text))).toHaveLength(2);
});

test("offledger migrate reports an unusable database without the password", async () => {
  const databaseUrl = await fresh();
  await command("migrate", { databaseUrl }).ended();
  await sql(databaseUrl, "INSERT INTO offledger.migrations (version) VALUES (77)");
  await expectRefusal(command("migrate", { databaseUrl }), 2, /has schema version 77/, secretOf(databaseUrl));
  const closed = createServer().listen(0, "127.0.0.1");
  await once(closed, "listening");
  const { port } = closed.address() as { readonly port: number };
  closed.close();
  const away = `postgres://user:hunter2@127.0.0.1:${port}/db`;
  await expectRefusal(command("migrate", { databaseUrl: away }), 1, /the database cannot be reached/, "hunter2");
});

test("an api with another configuration is not ready, with the reason, and rejects requests; the first one continues", async () => {
  const [databaseUrl, ledgerUrl] = [await fresh(), await participant()];
  const mirror = command("mirror", { databaseUrl, ledgerUrl });
  await logs(mirror, "snapshot of the ledger loaded");
  const own = await listening(command("api", { databaseUrl }));
  await becomesReady(own);
  const why = "the database holds the contracts of a service with another configuration";
  for (const more of [{ REGISTRY: "minimal" }, { TOTAL_SUPPLY: "false" }]) {
    const url = await listening(command("api", { databaseUrl, more }));
    await until("it has looked", async () => (await unreadiness(url)) === `not ready: ${why}`);
    const info = "/api/token-standard/v0/registrars/registrar::1220/registry/metadata/v1/info";
    expect(await ask(url + info)).toMatchObject({ status: 503, body: { error: why } });
  }
  expect((await ask(own + allInstrumentConfigurations)).status).toBe(200);
  expect(mirror.err.split(WRITES)).toHaveLength(2);
});
