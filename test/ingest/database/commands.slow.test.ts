/** The commands on a database, as processes: start, error messages and end. */
import { createServer } from "node:net";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { Client } from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { ownServer } from "../../fixtures/postgres.js";
import type { Program } from "../../fixtures/program.js";
import { allInstrumentConfigurations } from "../../fixtures/requests.js";
import { until } from "../../fixtures/wait.js";
import { Pairs } from "./pairs.js";
import { ask, becomesReady, command, listening, logs, newDatabase, onLedger, unreadiness, WRITES } from "./services.js";

/** A database with the schema of a later release. */
async function newerDatabase(): Promise<string> {
  const url = await newDatabase();
  expect((await command("migrate", { databaseUrl: url }).ended()).code).toBe(0);
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query("INSERT INTO offledger.migrations (version) VALUES (77)");
  await client.end();
  return url;
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

test("no command begins on a schema that is newer, or where the password is wrong, which it does not show", async () => {
  const newer = await newerDatabase();
  const wrong = new URL(newer);
  wrong.password = "not-the-password";
  for (const name of ["api", "mirror", "serve", "migrate"]) {
    const version =
      /^offledger: OFFLEDGER_DATABASE_URL: the database has schema version 77, .* supports up to \d+: run a newer/;
    await expectRefusal(command(name, { databaseUrl: newer }), 2, version, secretOf(newer));
    const denied = /^offledger: OFFLEDGER_DATABASE_URL: database error: password authentication failed/;
    await expectRefusal(command(name, { databaseUrl: wrong.href }), 2, denied, "not-the-password");
  }
});

describe.each(["api", "mirror", "serve"])("offledger %s", (name) => {
  test("waits for an unavailable database at start, becomes ready when it is up, and ends", async () => {
    const server = await ownServer();
    onTestFinished(() => server.remove());
    const { databaseUrl, ledgerUrl } = (await onLedger(new Pairs(10), server.url)).settings;
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
    program.stop();
    expect((await program.ended()).code).toBe(0);
    expect(program.err + program.out).not.toContain(secretOf(databaseUrl));
  });
});

test("offledger mirror serves health checks only", async () => {
  const program = command("mirror", (await onLedger(new Pairs(10))).settings);
  const url = await listening(program);
  await becomesReady(url);
  expect(await ask(`${url}/livez`)).toMatchObject({ status: 200, body: { status: "ok" } });
  expect((await ask(url + allInstrumentConfigurations)).status).toBe(404);
  expect((await ask(`${url}/api/utilities/v0/operator`)).status).toBe(404);
  program.stop();
  expect((await program.ended()).code).toBe(0);
});

test.each(["mirror", "serve"])("offledger %s stops on request, also while it connects or loads", async (name) => {
  const { settings } = await onLedger(new Pairs(10));
  // From when it listens to when it has a snapshot is a tenth of a second.
  for (const pauseMs of [0, 20, 50, 100]) {
    const program = command(name, { ...settings, databaseUrl: await newDatabase() });
    await listening(program);
    await delay(pauseMs);
    program.stop();
    expect([pauseMs, (await program.ended()).code]).toEqual([pauseMs, 0]);
  }
});

test("offledger migrate brings the schema up to date once, also where several do it at the same time", async () => {
  const databaseUrl = await newDatabase(false);
  const ended = await Promise.all([1, 2, 3].map(() => command("migrate", { databaseUrl }).ended()));
  expect(ended.map(({ code }) => code)).toEqual([0, 0, 0]);
  const said = ended.map(({ out }) => out).toSorted();
  expect(said.filter((text) => /^schema migrated from version 0 to \d+\n$/.test(text))).toHaveLength(1);
  expect(said.filter((text) => /^schema is up to date \(version \d+\)\n$/.test(text))).toHaveLength(2);
});

test.each(["mirror", "api"])("offledger %s waits where the schema is not migrated, and says so", async (name) => {
  const { settings } = await onLedger(new Pairs(10));
  const databaseUrl = await newDatabase(false);
  const program = command(name, { ...settings, databaseUrl });
  const url = await listening(program);
  await logs(program, "run `offledger migrate`");
  expect(await unreadiness(url)).toBeDefined();
  expect((await command("migrate", { databaseUrl }).ended()).code).toBe(0);
  if (name === "api") await listening(command("mirror", { ...settings, databaseUrl }));
  await becomesReady(url);
});

test("offledger migrate reports a database that cannot be reached, without the password", async () => {
  const closed = createServer().listen(0, "127.0.0.1");
  await once(closed, "listening");
  const { port } = closed.address() as { readonly port: number };
  closed.close();
  const away = `postgres://user:hunter2@127.0.0.1:${port}/db`;
  await expectRefusal(command("migrate", { databaseUrl: away }), 1, /the database cannot be reached/, "hunter2");
});

test("an api with another configuration is not ready, with the reason, and rejects requests; the first one continues", async () => {
  const { databaseUrl, ledgerUrl } = (await onLedger(new Pairs(10))).settings;
  const mirror = command("mirror", { databaseUrl, ledgerUrl });
  await logs(mirror, "snapshot of the ledger loaded");
  const own = await listening(command("api", { databaseUrl }));
  await becomesReady(own);
  const why =
    "no mirror of this release and configuration has filled the database: start one, or wait for its snapshot";
  for (const more of [{ REGISTRY: "minimal" }, { TOTAL_SUPPLY: "false" }]) {
    const url = await listening(command("api", { databaseUrl, more }));
    await until("it has looked", async () => (await unreadiness(url)) === `not ready: ${why}`);
    const info = "/api/token-standard/v0/registrars/registrar::1220/registry/metadata/v1/info";
    expect(await ask(url + info)).toMatchObject({ status: 503, body: { error: why } });
  }
  expect((await ask(own + allInstrumentConfigurations)).status).toBe(200);
  expect(mirror.err.split(WRITES)).toHaveLength(2);
});
