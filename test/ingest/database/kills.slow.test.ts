/** A mirror killed at any moment leaves a consistent database: nothing partial, lost or duplicated. */
import { expect, onTestFinished, test } from "vitest";
import { freshDatabase } from "../../fixtures/postgres.js";
import { until } from "../../fixtures/wait.js";
import { Participant } from "../../../scripted-participant/participant.js";
import { Pairs, PAIRS } from "./pairs.js";
import { Asking, BOUND_MS, Killing } from "./kill-processes.js";
import { askConfigurations } from "./queries.js";
import { Random } from "./random.js";
import { becomesReady, command, inBackground, listening, type Settings } from "./services.js";
import { expected, expectedContracts, Watcher } from "./replica-observer.js";

const KILLS = Number(process.env["OFFLEDGER_TEST_KILLS"] ?? 15);
const SEED = Number(process.env["OFFLEDGER_TEST_SEED"] ?? 20_260_105);
/** Contracts that never change, so that to load a snapshot takes its time. */
const STOCK = 3_000;

test(
  `holds over ${KILLS} kills at moments of chance`,
  async () => {
    const random = new Random(SEED);
    const pairs = new Pairs(STOCK);
    const participant = await Participant.start({ ledger: pairs.ledger, checkpointMs: 20 });
    onTestFinished(() => participant.stop());
    const database = await freshDatabase();
    onTestFinished(() => database.drop());
    const settings: Settings = { databaseUrl: database.url, ledgerUrl: participant.url };
    const url = await listening(command("api", settings));

    const observers = [1, 50_000_000].map((cacheBytes) => new Watcher(database.url, pairs, cacheBytes));
    onTestFinished(async () => void (await Promise.all(observers.map((watcher) => watcher.close()))));
    const asking = new Asking(url, pairs, new Random(SEED + 1));
    const background = inBackground(
      (signal) => pairs.keepChanging(new Random(SEED + 2), 10, signal),
      (signal) => asking.run(signal),
      ...observers.map((watcher) => (signal: AbortSignal) => watcher.keepLooking(signal)),
    );

    const killing = new Killing(settings, pairs, random);
    onTestFinished(() => killing.close());
    for (let kill = 0; kill < KILLS; kill++) await killing.once(kill, () => observers[0]?.offset ?? 0);

    const last = command("mirror", settings);
    await becomesReady(await listening(last));
    await background.end();
    const state = pairs.replace(...Array.from({ length: PAIRS }, (_, pair) => pair));
    await until("the database has caught up", () => killing.stands(state.offset), BOUND_MS);
    console.log(
      `${KILLS} kills, seed ${SEED}: ${JSON.stringify(killing.figures)}; ${pairs.ledger.end} updates, ` +
        `${pairs.restores} restores, ${observers.map(({ readings }) => readings).join(" and ")} readings, ` +
        `${asking.answers} answers, ${asking.current} on offers that had to be there, ${JSON.stringify(asking.statuses)}`,
    );

    expect([...asking.wrong, ...observers.flatMap(({ wrong }) => wrong)]).toEqual([]);
    for (const watcher of observers) {
      expect(await watcher.contents()).toEqual(expectedContracts(pairs.ledger));
      expect(await watcher.lists()).toEqual({
        ...expected(state),
        offset: state.offset,
        census: expectedContracts(pairs.ledger).length,
      });
      expect(watcher.returns).toBeLessThanOrEqual(pairs.restores);
      expect(watcher.readings).toBeGreaterThan(10 * KILLS);
    }
    expect((await askConfigurations(url, pairs)).tags).toEqual(state.tags);
    expect(asking.answers).toBeGreaterThan(10 * KILLS);
    expect(asking.current).toBeGreaterThan(KILLS);
    expect(killing.figures.duringLoad).toBeGreaterThan(0);
    expect(killing.figures.loading + killing.figures.following).toBeGreaterThan(0);
  },
  60_000 + KILLS * 8_000,
);
