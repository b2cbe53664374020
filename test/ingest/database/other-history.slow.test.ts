/** Processes that only read the database are not ready either, as soon as the mirror sees another history. */
import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { startApp } from "../../../src/app/app.js";
import type { Config } from "../../../src/config/config.js";
import { parties } from "../../fixtures/elements.js";
import { freshDatabase } from "../../fixtures/postgres.js";
import { quiet } from "../../fixtures/run-service.js";
import { until } from "../../fixtures/wait.js";
import { Participant } from "../../scripted-participant/participant.js";
import { Pairs } from "./pairs.js";
import { askConfigurations } from "./queries.js";
import { becomesReady, unreadiness } from "./services.js";

const SNAPSHOTS = "/v2/state/active-contracts";

test("a replica is not ready while the ledger has another history, across a change of the mirror", async () => {
  const pairs = new Pairs(10);
  const participant = await Participant.start({ ledger: pairs.ledger, checkpointMs: 20 });
  onTestFinished(() => participant.stop());
  const database = await freshDatabase();
  onTestFinished(() => database.drop());
  const config: Config = {
    ...quiet(),
    databaseUrl: new URL(database.url),
    ledgerUrl: new URL(participant.url),
    ledgerParties: [parties.operator],
    // The age alone would not end readiness.
    unreadySeconds: 3_600,
    staleSeconds: 7_200,
    graceSeconds: 2,
  };
  const client = new Client({ connectionString: database.url });
  await client.connect();
  onTestFinished(() => client.end());
  const epochs = async () => {
    const { rows } = await client.query<{ epoch: string }>("SELECT epoch FROM offledger.state");
    return Number(rows[0]?.epoch);
  };
  const mirrors = { mirrors: true, answers: false };
  const first = await startApp(config, Date.now, mirrors);
  let isClosed = false;
  const close = async () => {
    if (!isClosed) await first.close();
    isClosed = true;
  };
  onTestFinished(close);
  const replica = await startApp(config, Date.now, { mirrors: false, answers: true });
  onTestFinished(() => replica.close());
  await becomesReady(replica.url);
  for (let count = 0; count < 5; count++) pairs.replace(0);
  const before = pairs.now.tags.join();
  await until("it is served", async () => (await askConfigurations(replica.url, pairs)).tags?.join() === before);

  // Without a snapshot the mirror cannot move to the new history.
  participant.faults.refuse(503, { over: "websocket", path: SNAPSHOTS, times: 1_000_000 });
  pairs.restore(3);
  const reason = /^not ready: (the ledger ends at offset \d+, but|the participant does not have the update)/;
  await until("the replica is not ready", async () => (await unreadiness(replica.url)) !== undefined);
  expect(await unreadiness(replica.url)).toMatch(reason);
  expect((await askConfigurations(replica.url, pairs)).status).toBe(200);

  // The next leader has not reached the ledger yet. What the first has found still holds.
  await close();
  const next = await startApp(config, Date.now, mirrors);
  onTestFinished(() => next.close());
  await until("the next mirror leads", async () => (await epochs()) > 1);
  expect(await unreadiness(replica.url)).toMatch(reason);

  participant.faults.clear();
  await becomesReady(replica.url);
  const state = pairs.replace(1);
  await until(
    "it is served",
    async () => (await askConfigurations(replica.url, pairs)).tags?.join() === state.tags.join(),
  );
});
