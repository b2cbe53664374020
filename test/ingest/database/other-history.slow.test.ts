/** What a process on a database says of the ledger after another mirror: that it has another history, or is not reached. */
import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { until } from "../../fixtures/wait.js";
import { Pairs } from "./pairs.js";
import { askConfigurations } from "./queries.js";
import { becomesReady, MIRROR, onLedger, REPLICA, unreadiness } from "./services.js";

test("a replica is not ready while the ledger has another history, across a change of the mirror", async () => {
  const pairs = new Pairs(10);
  const { participant, settings, start } = await onLedger(pairs);
  // The age alone would not end readiness.
  const limits = { unreadySeconds: 3_600, staleSeconds: 7_200 };
  const client = new Client({ connectionString: settings.databaseUrl });
  await client.connect();
  onTestFinished(() => client.end());
  const epochs = async () => {
    const { rows } = await client.query<{ epoch: string }>("SELECT epoch FROM offledger.state");
    return Number(rows[0]?.epoch);
  };
  const first = await start(MIRROR, limits);
  const replica = await start(REPLICA, limits);
  await becomesReady(replica.url);
  const isServed = (tags: readonly string[]) =>
    until("it is served", async () => (await askConfigurations(replica.url, pairs)).tags?.join() === tags.join());
  for (let count = 0; count < 5; count++) pairs.replace(0);
  await isServed(pairs.now.tags);

  // Without a snapshot the mirror cannot move to the new history.
  participant.faults.refuse(503, { over: "websocket", path: "/v2/state/active-contracts", times: 1_000_000 });
  pairs.restore(3);
  const reason = /^not ready: (the ledger ends at offset \d+, but|the participant does not have the update)/;
  await until("the replica is not ready", async () => (await unreadiness(replica.url)) !== undefined);
  expect(await unreadiness(replica.url)).toMatch(reason);
  expect((await askConfigurations(replica.url, pairs)).status).toBe(200);

  // The next leader has not reached the ledger yet. What the first has found still holds.
  await first.close();
  await start(MIRROR, limits);
  await until("the next mirror leads", async () => (await epochs()) > 1);
  expect(await unreadiness(replica.url)).toMatch(reason);

  participant.faults.clear();
  await becomesReady(replica.url);
  await isServed(pairs.replace(1).tags);
});

test("a mirror that resumes without the ledger does not deny that a snapshot was taken", async () => {
  const { participant, start } = await onLedger(new Pairs(10));
  const first = await start(MIRROR);
  await becomesReady(first.url);
  await first.close();
  participant.faults.leaveUnanswered({ times: 1_000_000 });
  const second = await start(MIRROR);
  await until("it leads", async () => (await unreadiness(second.url)) !== "not ready: the service is starting");
  expect(await unreadiness(second.url)).toMatch(
    /^not ready: the ledger has not been reached yet: the age of the contracts is unknown/,
  );
});
