/**
 * Two releases on one database, of which each stores other contracts than the other: the new one fills a generation of its
 * own beside the old one, both serve, and the old one goes on where it stopped. No request fails meanwhile.
 */
import { setTimeout as pause } from "node:timers/promises";
import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { freshDatabase } from "../../fixtures/postgres.js";
import { allInstrumentConfigurations } from "../../fixtures/requests.js";
import { until } from "../../fixtures/wait.js";
import { Participant } from "../../scripted-participant/participant.js";
import { Pairs } from "./pairs.js";
import { Random } from "./random.js";
import { ask, becomesReady, command, inBackground, listening, logs, unreadiness, WRITES } from "./services.js";

const OLD = { TOTAL_SUPPLY: "true" };
const NEW = { TOTAL_SUPPLY: "false" };

test("another release fills a generation beside the old one, and the way back takes no snapshot", async () => {
  const database = await freshDatabase();
  onTestFinished(() => database.drop());
  const databaseUrl = database.url;
  const pairs = new Pairs(10);
  const { ledger } = pairs;
  // A mirror resumes behind an update.
  const changing = inBackground((signal) => pairs.keepChanging(new Random(7), 20, signal));
  const participant = await Participant.start({ ledger, checkpointMs: 20 });
  onTestFinished(() => participant.close());
  const { url: ledgerUrl } = participant;
  const start = (name: string, more: Readonly<Record<string, string>>) =>
    command(name, name === "mirror" ? { databaseUrl, ledgerUrl, more } : { databaseUrl, more });
  expect((await command("migrate", { databaseUrl }).ended()).code).toBe(0);

  const old = { mirror: start("mirror", OLD), api: start("api", OLD) };
  const oldUrl = await listening(old.api);
  await becomesReady(oldUrl);
  let serving = [oldUrl];
  const failures: string[] = [];
  let asked = 0;
  const load = inBackground(async (signal) => {
    while (!signal.aborted) {
      for (const url of serving) {
        const { status, body } = await ask(url + allInstrumentConfigurations);
        asked++;
        if (status !== 200) failures.push(`${status} ${JSON.stringify(body)}`);
      }
      await pause(2);
    }
  });

  // Forward. The new replica is not ready before its mirror has filled its generation.
  const api = start("api", NEW);
  const newUrl = await listening(api);
  expect(await unreadiness(newUrl)).toContain("no mirror of this release and configuration has filled the database");
  const mirror = start("mirror", NEW);
  await becomesReady(newUrl);
  expect(await unreadiness(oldUrl)).toBeUndefined();
  serving = [oldUrl, newUrl];
  await until("both have served", () => asked > 200);
  serving = [newUrl];
  old.api.stop();
  old.mirror.stop();
  await Promise.all([old.api.ended(), old.mirror.ended()]);

  // Back, on the schema of the release after.
  const client = new Client({ connectionString: databaseUrl }).on("error", () => undefined);
  await client.connect();
  const { rows } = await client.query<{ version: number }>("SELECT max(version) AS version FROM offledger.migrations");
  await client.query("INSERT INTO offledger.migrations (version) VALUES ($1)", [(rows[0]?.version ?? 0) + 1]);
  const generations = await client.query<{ count: string }>(
    "SELECT count(DISTINCT generation) FROM offledger.log_contracts",
  );
  expect(generations.rows[0]?.count).toBe("2");
  const again = { mirror: start("mirror", OLD), api: start("api", OLD) };
  const againUrl = await listening(again.api);
  await logs(again.mirror, WRITES);
  expect(again.mirror.err).toMatch(/"offset":\d+,"msg":"leader: this process writes the database"/);
  await becomesReady(againUrl);
  serving = [againUrl];
  api.stop();
  mirror.stop();
  await Promise.all([api.ended(), mirror.ended()]);
  await until("the old release has served alone", () => asked > 400);
  await load.end();
  await changing.end();
  expect(failures).toEqual([]);
  expect(again.mirror.err).not.toContain("snapshot of the ledger loaded");

  // What nobody has written for an hour is deleted.
  await client.query("UPDATE offledger.state SET led_at = led_at - interval '2 hours' WHERE epoch = 1");
  await until(
    "the generation of the new release is deleted",
    async () => {
      const { rows: left } = await client.query<{ count: string }>(
        "SELECT count(DISTINCT generation) FROM offledger.log_contracts",
      );
      return left[0]?.count === "1";
    },
    90_000,
  );
  await client.end();
}, 240_000);
