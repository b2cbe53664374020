/** What a process on a database says of the ledger: that it has another history, or is not reached. */
import { expect, test } from "vitest";
import { until } from "../../fixtures/wait.js";
import { Pairs } from "./pairs.js";
import { askConfigurations } from "./queries.js";
import { becomesReady, MIRROR, onLedger, REPLICA, unreadiness } from "./services.js";

test("a replica is not ready while the ledger has another history", async () => {
  const pairs = new Pairs(10);
  const { participant, start } = await onLedger(pairs);
  await start(MIRROR);
  const replica = await start(REPLICA);
  await becomesReady(replica.url);
  for (let count = 0; count < 5; count++) pairs.replace(0);
  const { tags } = pairs.now;
  await until(
    "they are served",
    async () => (await askConfigurations(replica.url, pairs)).tags?.join() === tags.join(),
  );
  // Without a snapshot the mirror cannot move to the new history.
  participant.faults.refuse(503, { over: "websocket", path: "/v2/state/active-contracts", times: 1_000_000 });
  pairs.restore(3);
  await until("it is not ready", async () => (await unreadiness(replica.url)) !== undefined);
  expect(await unreadiness(replica.url)).toMatch(
    /^not ready: (the ledger ends at offset \d+, but|the participant does not have the update)/,
  );
  expect((await askConfigurations(replica.url, pairs)).status).toBe(200);
  participant.faults.clear();
  await becomesReady(replica.url);
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
