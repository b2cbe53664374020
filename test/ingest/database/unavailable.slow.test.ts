/** The database stops and restarts: cached contracts are answered for a while, no response is wrong, and everything recovers. */
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { type OwnServer, ownServer } from "../../fixtures/postgres.js";
import type { Program } from "../../fixtures/program.js";
import { reject } from "../../fixtures/requests.js";
import { until } from "../../fixtures/wait.js";
import { Pairs, PAIRS } from "./pairs.js";
import { askAccept, askConfigurations, askFactory, Caller } from "./queries.js";
import { Random } from "./random.js";
import {
  ask,
  becomesReady,
  command,
  inBackground,
  listening,
  logs,
  onLedger,
  unreadiness,
  WRITES,
} from "./services.js";

/**
 * The limit on the age of answers, in seconds, and what its steps may take: a poll of the mirror, a heartbeat, a look of the
 * replica, and the look before, from which the age counts.
 */
const STALE = 7;
const LATE_MS = 4_000;
/** The pair that does not change, and is asked for all the time: it is known. */
const KNOWN = 0;

test(
  "a database that stops and starts again is waited for, without a wrong response",
  { timeout: 300_000 },
  async () => {
    const server = await ownServer();
    onTestFinished(() => server.remove());
    const pairs = new Pairs(50);
    const more = { STALE_SECONDS: STALE };
    const settings = { ...(await onLedger(pairs, server.url)).settings, more };
    const mirror = command("mirror", settings);
    const mirrorUrl = await listening(mirror);
    const api = command("api", settings);
    const url = await listening(api);
    await becomesReady(url);
    await becomesReady(mirrorUrl);

    const caller = new Caller();
    /** What is cached, and an offer that exists and that no request has fetched yet. */
    const askAll = async (turn: number): Promise<void> => {
      caller.note(await askFactory(url, KNOWN), [200, 503]);
      caller.note(await askConfigurations(url, pairs), [200, 503]);
      const pair = 1 + (turn % (PAIRS - 1));
      const tag = pairs.now.tags[pair] ?? "0.0";
      const offered = await askAccept(url, pair, tag);
      caller.note(offered, pairs.now.tags[pair] === tag ? [200, 503] : [200, 404, 503]);
    };
    const background = inBackground(
      (signal) => keepChangingOthers(pairs, signal),
      (signal) => caller.keepAsking(signal, askAll),
    );
    await until("all is known", () => caller.answers > 50);
    expect(caller.wrong).toEqual([]);

    const stopped = performance.now();
    await server.stop("immediate");
    await until("it is not ready", async () => (await unreadiness(url)) !== undefined);
    expect(await unreadiness(url)).toBe("not ready: the database cannot be reached");
    await until("the mirror is not ready", async () => (await unreadiness(mirrorUrl)) !== undefined);
    expect(await unreadiness(mirrorUrl)).toBe("not ready: the database cannot be written");
    expect((await askFactory(url, KNOWN)).status).toBe(200);
    // Without the database an uncached contract cannot be distinguished from an unknown one.
    for (const offer of ["offer-5-9999.0", "nowhere"]) {
      const unknown = await ask(url + reject(offer), "POST");
      expect([unknown.status, Object.keys(unknown.body)]).toEqual([503, ["error"]]);
    }
    await until("what is known is too old", async () => (await askFactory(url, KNOWN)).status === 503);
    // As late as the limit says.
    expect(performance.now() - stopped).toBeGreaterThan(STALE * 1000 - LATE_MS);
    expect((await askFactory(url, KNOWN)).body.error).toMatch(/^the ledger has not been reached for \d+ s; answers/);
    for (const one of [url, mirrorUrl]) expect((await ask(`${one}/livez`)).status).toBe(200);

    await server.start();
    await until("what is known is answered", async () => (await askFactory(url, KNOWN)).status === 200);
    await Promise.all([url, mirrorUrl].map(becomesReady));
    await background.end();
    const state = pairs.replace(1, 2);
    const shown = () => askConfigurations(url, pairs);
    await until("the mirror goes on", async () => (await shown()).tags?.join() === state.tags.join());
    expect(caller.wrong).toEqual([]);
    expect(Object.keys(caller.statuses)).toEqual(expect.arrayContaining(["200", "503"]));
    expect(mirror.err.split("snapshot of the ledger loaded")).toHaveLength(2);
    for (const program of [mirror, api]) expectNoSecrets(server, program, caller.bodies);
    await logs(mirror, WRITES, 2);
    for (const program of [mirror, api]) program.stop();
    for (const program of [mirror, api]) expect((await program.ended()).code).toBe(0);
  },
);

/** Changes the ledger, but nothing of the pair that must be known; many updates at once, so that the mirror has transactions. */
async function keepChangingOthers(pairs: Pairs, signal: AbortSignal): Promise<void> {
  const random = new Random(3);
  while (!signal.aborted) {
    for (let burst = 0; burst < 6; burst++) pairs.replace(1 + random.below(PAIRS - 1));
    await delay(100);
  }
}

/** Must not be shown: the password, statements and tables, and stack traces. */
function expectNoSecrets(server: OwnServer, { out, err }: Program, bodies: ReadonlySet<string>): void {
  const { password, username } = new URL(server.url);
  expect(password).toMatch(/^[\da-f]{32}$/);
  const text = [out, err, ...bodies].join("\n");
  expect(text).not.toContain(password);
  expect(text).not.toContain(username);
  expect(text).not.toMatch(/SELECT|INSERT|UPDATE |DELETE|offledger\.(state|contracts)|generation = /);
  expect(text).not.toMatch(/\bat .*:\d+:\d+|node_modules|\.js\b/);
}
