/**
 * What is too old is refused, in memory and through a database, wherever the clocks that tell the time are set meanwhile.
 * Each process has a monotonic clock and a wall clock of its own, which the test moves.
 */
import { Client } from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { startApp } from "../../../src/app/app.js";
import type { AppConfig } from "../../../src/config/limits.js";
import type { Roles } from "../../../src/ingest/database-source.js";
import { parties } from "../../fixtures/elements.js";
import { databaseAt } from "../../fixtures/postgres.js";
import { quiet } from "../../fixtures/run-service.js";
import { until } from "../../fixtures/wait.js";
import { Pairs } from "./pairs.js";
import { askConfigurations } from "./queries.js";
import { becomesReady, MIRROR, onLedger, REPLICA, unreadiness } from "./services.js";

const HOUR = 3_600_000;
const LIMITS = { unreadySeconds: 30, staleSeconds: 300 };
const BOTH: Roles = { mirrors: true, answers: true };

/** The clocks of a machine. */
interface Clocks {
  wall: number;
  /** What the monotonic clock is ahead of the real one. */
  ahead: number;
}

async function startOn(config: Partial<AppConfig>, roles: Roles, clocks: Clocks) {
  const settings = { ...quiet(), ...LIMITS, ledgerParties: [parties.operator], graceSeconds: 2, ...config };
  const app = await startApp(
    settings,
    () => clocks.wall,
    roles,
    () => performance.now() + clocks.ahead,
  );
  onTestFinished(() => app.close());
  return app;
}

const START = Date.UTC(2026, 0, 5, 12);

/** One process in memory, or a mirror and a replica whose clocks differ by hours. */
async function deployed(kind: "memory" | "database") {
  const pairs = new Pairs(10);
  const { participant, settings } = await onLedger(pairs);
  const ledgerUrl = new URL(settings.ledgerUrl);
  const databaseUrl = databaseAt(settings.databaseUrl);
  const own: Clocks = { wall: START, ahead: 0 };
  const ofReplica: Clocks = { wall: START + HOUR, ahead: 7 * HOUR };
  const services =
    kind === "memory"
      ? [await startOn({ ledgerUrl }, BOTH, own)]
      : [await startOn({ ledgerUrl, databaseUrl }, MIRROR, own), await startOn({ databaseUrl }, REPLICA, ofReplica)];
  const answering = services.at(-1)?.url ?? "";
  await Promise.all(services.map(({ url }) => becomesReady(url)));
  return {
    pairs,
    participant,
    answering,
    databaseUrl,
    /** Sets the clocks that tell the time. */
    jump: (ms: number) => [own, ofReplica].forEach((clocks) => void (clocks.wall += ms)),
    pass: (ms: number) =>
      [own, ofReplica].forEach((clocks) => {
        clocks.wall += ms;
        clocks.ahead += ms;
      }),
    answer: async () => (await askConfigurations(answering, pairs)).status,
  };
}

describe.each(["memory", "database"] as const)("in %s", (kind) => {
  test.each([-HOUR, 0, HOUR])("a participant that freezes after the clock was set by %d ms", async (ms) => {
    const { participant, jump, pass, answering, answer } = await deployed(kind);
    jump(ms);
    participant.faults.leaveUnanswered({ times: 1_000_000 });
    participant.faults.silence({ streams: "open", answersPings: false });
    expect([await unreadiness(answering), await answer()]).toEqual([undefined, 200]);
    pass(35_000);
    jump(ms);
    await until("it is not ready", async () => (await unreadiness(answering)) !== undefined);
    expect(await unreadiness(answering)).toMatch(/the ledger has not been reached for \d+ s/);
    expect(await answer()).toBe(200);
    pass(270_000);
    await until("it answers 503", async () => (await answer()) === 503);
    expect(await unreadiness(answering)).toMatch(/the ledger has not been reached for \d{3} s/);
    jump(-2 * ms);
    expect([await unreadiness(answering), await answer()]).toEqual([expect.any(String), 503]);
  });

  test("a ledger that is followed stays current, however often the clock is set", async () => {
    const { jump, answering, answer, pairs } = await deployed(kind);
    for (const ms of [HOUR, -HOUR, -HOUR, HOUR]) {
      jump(ms);
      const { tags } = pairs.replace(0);
      await until("the update is served", async () => {
        const served = await askConfigurations(answering, pairs);
        return served.tags?.join() === tags.join();
      });
      expect([await unreadiness(answering), await answer()]).toEqual([undefined, 200]);
    }
  });
});

/** A replica sees no clock of the database but in what the mirror writes. A trigger writes what a clock that was set would. */
test.each([-HOUR, HOUR])("a database whose clock is set by %d ms neither ages nor renews a replica", async (ms) => {
  const { participant, pass, answering, answer, databaseUrl } = await deployed("database");
  const client = new Client({ connectionString: databaseUrl.secret });
  await client.connect();
  onTestFinished(() => client.end());
  await client.query(`
    CREATE FUNCTION set_clock() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF NEW.led_at <> OLD.led_at THEN
        NEW.confirmed_at = NEW.confirmed_at + interval '${ms} milliseconds';
        NEW.led_at = NEW.led_at + interval '${ms} milliseconds';
      END IF;
      RETURN NEW;
    END $$`);
  await client.query(
    "CREATE TRIGGER set_clock BEFORE UPDATE ON offledger.state FOR EACH ROW EXECUTE FUNCTION set_clock()",
  );
  const isMoved = async () => {
    const { rows } = await client.query<{ moved: number }>(
      "SELECT extract(epoch FROM led_at - clock_timestamp())::float8 * 1000 AS moved FROM offledger.state",
    );
    return Math.abs((rows[0]?.moved ?? 0) - ms) < HOUR / 2;
  };
  await until("the mirror has written by the other clock", isMoved);
  // Longer than the first limit: without renewals it would not be ready.
  pass(20_000);
  await until("it is current", async () => (await unreadiness(answering)) === undefined && (await answer()) === 200);
  pass(20_000);
  await until("it is current again", async () => (await unreadiness(answering)) === undefined);
  participant.faults.leaveUnanswered({ times: 1_000_000 });
  participant.faults.silence({ streams: "open", answersPings: false });
  pass(35_000);
  await until("it is not ready", async () => (await unreadiness(answering)) !== undefined);
  pass(270_000);
  await until("it answers 503", async () => (await answer()) === 503);
  expect(await unreadiness(answering)).toMatch(/has not been reached for \d{3} s/);
});
