/** A large registry in an index: its generation is switched under load, it does not fit the heap, its load is ended. */
import { setTimeout as delay } from "node:timers/promises";
import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { until } from "../../fixtures/wait.js";
import { Pairs } from "./pairs.js";
import { askConfigurations, askFactory } from "./queries.js";
import { becomesReady, command, listening, onLedger, type Settings, unreadiness } from "./services.js";

const CONTRACTS = Number(process.env["OFFLEDGER_TEST_CONTRACTS"] ?? 30_000);
const CLIENTS = 4;
const TIMEOUT_MS = 120_000 + CONTRACTS * 4;

async function connect({ databaseUrl }: Settings): Promise<Client> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

/** The generation that is served, and the update that the next mirror resumes at. */
async function served(client: Client) {
  const sql = 'SELECT generation, update_id AS "updateId" FROM offledger.state WHERE generation > 0';
  const { rows } = await client.query<{ generation: string; updateId: string | null }>(sql);
  return rows[0];
}

/** A mirror that has filled a database, from which the next one cannot resume. */
async function filled() {
  const pairs = new Pairs(CONTRACTS);
  const { settings } = await onLedger(pairs);
  const client = await connect(settings);
  const mirror = command("mirror", settings);
  await until("it has filled the database", async () => (await served(client)) !== undefined, TIMEOUT_MS);
  return { pairs, settings, client, mirror };
}

test("a generation is switched under load: no request fails", { timeout: 3 * TIMEOUT_MS }, async () => {
  const { pairs, settings, client, mirror } = await filled();
  const replica = command("api", settings);
  const url = await listening(replica);
  await becomesReady(url);
  pairs.replace(0);
  await until("an update is stored", async () => (await served(client))?.updateId !== null);
  const before = await served(client);
  mirror.signal("SIGKILL");
  await mirror.exit;
  const { tags } = pairs.replace(0);
  pairs.prune();

  const end = new AbortController();
  const failures: unknown[] = [];
  let answered = 0;
  let longest = 0;
  const asking = Array.from({ length: CLIENTS }, async (_, index) => {
    while (!end.signal.aborted) {
      const { status, wrong, took } = await askFactory(url, index);
      answered++;
      longest = Math.max(longest, took);
      if (status !== 200 || wrong !== undefined) failures.push([status, wrong]);
    }
  });
  let unreadyMs = 0;
  const watching = (async () => {
    for (let at = performance.now(); !end.signal.aborted; await delay(20)) {
      const [since, reason] = [at, await unreadiness(url)];
      at = performance.now();
      if (reason !== undefined) unreadyMs += at - since;
    }
  })();
  command("mirror", settings);
  await until("it is filled again", async () => (await served(client))?.generation !== before?.generation, TIMEOUT_MS);
  const swapped = performance.now();
  await until("the replica serves it", async () => (await askConfigurations(url, pairs)).tags?.join() === tags.join());
  const switchedMs = performance.now() - swapped;
  end.abort();
  await Promise.all([...asking, watching]);
  console.log(
    `${CONTRACTS} contracts: served ${Math.round(switchedMs)} ms after the swap, not ready for ${Math.round(unreadyMs)} ms, ` +
      `${answered} requests, the longest ${Math.round(longest)} ms`,
  );
  expect(failures).toEqual([]);
  expect(answered).toBeGreaterThan(100);
});

test("a registry that does not fit the heap ends the start, and fits what the message names", async () => {
  const { settings } = await filled();
  const small = command("api", { ...settings, environment: { NODE_OPTIONS: "--max-old-space-size=40" } });
  const { code, err } = await small.ended();
  expect(code).toBe(2);
  const [, options] =
    /^offledger: the [\d,]+ contracts of the database need .*: set NODE_OPTIONS=(\S+)$/m.exec(err) ?? [];
  const large = command("api", { ...settings, environment: { NODE_OPTIONS: options ?? "none" } });
  await becomesReady(await listening(large));
  large.stop();
  expect((await large.ended()).code).toBe(0);
});
