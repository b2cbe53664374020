/** Two mirrors and two replicas on one database: callers do not notice which mirror is the leader. */
import { expect, onTestFinished, test } from "vitest";
import type { Program } from "../../fixtures/program.js";
import { until } from "../../fixtures/wait.js";
import { Pairs } from "./pairs.js";
import { askAny, Caller } from "./queries.js";
import { Random } from "./random.js";
import {
  becomesReady,
  command,
  inBackground,
  listening,
  logs,
  MIRROR,
  onLedger,
  unreadiness,
  WRITES,
} from "./services.js";
import { expected, expectedContracts, ReplicaObserver } from "./replica-observer.js";

const STANDBY = "another process writes the database";
const ENDS = "leadership ended: this process no longer writes the database";

test("a mirror that stops or is killed is replaced, and callers see none of it", { timeout: 300_000 }, async () => {
  const pairs = new Pairs(200);
  const { settings } = await onLedger(pairs);
  const first = command("mirror", settings);
  const firstUrl = await listening(first);
  await logs(first, WRITES);
  const second = command("mirror", settings);
  await Promise.all([becomesReady(firstUrl), listening(second).then(becomesReady)]);
  await logs(second, STANDBY);
  const urls = [await listening(command("api", settings)), await listening(command("api", settings))];
  await Promise.all(urls.map(becomesReady));

  const observer = new ReplicaObserver(settings.databaseUrl, pairs, 50_000_000);
  onTestFinished(() => observer.close());
  const caller = new Caller();
  const background = inBackground(
    (signal) => pairs.keepChanging(new Random(7), 20, signal),
    (signal) => observer.keepLooking(signal),
    ...urls.map((url, index) => (signal: AbortSignal) => {
      const random = new Random(index);
      return caller.keepAsking(signal, async () => {
        caller.note(await askAny(url, pairs, random));
      });
    }),
  );
  /** A replica sees an update that is committed from now on. */
  const isSeen = async (): Promise<void> => {
    const { offset } = pairs.replaceSingle();
    await until("an update is seen", () => observer.offset >= offset);
  };
  await isSeen();

  first.signal("SIGSTOP");
  await isSeen();
  expect([first, second].map(written)).toEqual([1, 1]);
  first.signal("SIGCONT");
  await logs(first, ENDS);
  await logs(first, STANDBY);
  // It is on standby and needs nothing else.
  await until("the first is ready", async () => (await unreadiness(firstUrl)) === undefined);

  second.signal("SIGKILL");
  await isSeen();
  expect([first, second].map(written)).toEqual([2, 1]);

  const third = command("mirror", settings);
  await becomesReady(await listening(third));
  await logs(third, STANDBY);
  first.stop();
  expect((await first.ended()).code).toBe(0);
  await isSeen();
  expect(written(third)).toBe(1);

  await background.end();
  const state = pairs.replace(0);
  await until("all is seen", async () => JSON.stringify(await observer.lists()).includes(`"offset":${state.offset},`));
  expect([...caller.wrong, ...observer.wrong]).toEqual([]);
  expect(await observer.contents()).toEqual(expectedContracts(pairs.ledger));
  expect(await observer.lists()).toMatchObject(expected(state));
  expect(observer.returns).toBe(0);
  expect(caller.answers).toBeGreaterThan(100);
});

/** How often a mirror became the leader. */
const written = ({ err }: Program): number => err.split(WRITES).length - 1;

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
