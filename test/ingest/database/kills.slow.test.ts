/** A mirror killed at any moment leaves a consistent database: nothing partial, lost or duplicated. */
import { expect, onTestFinished, test } from "vitest";
import { until } from "../../fixtures/wait.js";
import { Pairs, PAIRS } from "./pairs.js";
import { RequestLoop, MirrorKiller } from "./kill-processes.js";
import { askConfigurations } from "./queries.js";
import { Random } from "./random.js";
import { becomesReady, command, inBackground, listening, onLedger } from "./services.js";
import { expected, expectedContracts, ReplicaObserver } from "./replica-observer.js";

const KILLS = Number(process.env["OFFLEDGER_TEST_KILLS"] ?? 15);
const SEED = Number(process.env["OFFLEDGER_TEST_SEED"] ?? 20_260_105);
/** Contracts that never change. They make snapshot loads slow. */
const UNCHANGING_CONTRACTS = 3_000;

test(
  `holds over ${KILLS} kills at random moments`,
  async () => {
    const random = new Random(SEED);
    const pairs = new Pairs(UNCHANGING_CONTRACTS);
    const { settings } = await onLedger(pairs);
    const url = await listening(command("api", settings));

    const observers = [1, 50_000_000].map((cacheBytes) => new ReplicaObserver(settings.databaseUrl, pairs, cacheBytes));
    onTestFinished(async () => void (await Promise.all(observers.map((observer) => observer.close()))));
    const requests = new RequestLoop(url, pairs, new Random(SEED + 1));
    const background = inBackground(
      (signal) => pairs.keepChanging(new Random(SEED + 2), 10, signal),
      (signal) => requests.run(signal),
      ...observers.map((observer) => (signal: AbortSignal) => observer.keepLooking(signal)),
    );

    const killer = new MirrorKiller(settings, pairs, random);
    onTestFinished(() => killer.close());
    for (let kill = 0; kill < KILLS; kill++) await killer.once(kill, () => observers[0]?.offset ?? 0);

    const last = command("mirror", settings);
    await becomesReady(await listening(last));
    // How many depends on the speed of the machine. Without any, the test would show nothing.
    await until("an offer that had to be there was asked for", () => requests.current > 0);
    await background.end();
    const state = pairs.replace(...Array.from({ length: PAIRS }, (_, pair) => pair));
    await until("the database has caught up", () => killer.isAtOffset(state.offset));
    console.log(
      `${KILLS} kills, seed ${SEED}: ${JSON.stringify(killer.figures)}; ${pairs.ledger.end} updates, ` +
        `${pairs.restores} restores, ${observers.map(({ readings }) => readings).join(" and ")} readings, ` +
        `${requests.answers} answers, ${requests.current} on offers that had to be there, ${JSON.stringify(requests.statuses)}`,
    );

    expect([...requests.wrong, ...observers.flatMap(({ wrong }) => wrong)]).toEqual([]);
    for (const observer of observers) {
      expect(await observer.contents()).toEqual(expectedContracts(pairs.ledger));
      expect(await observer.lists()).toEqual({
        ...expected(state),
        offset: state.offset,
        contractCount: expectedContracts(pairs.ledger).length,
      });
      expect(observer.returns).toBeLessThanOrEqual(pairs.restores);
      expect(observer.readings).toBeGreaterThan(10 * KILLS);
    }
    expect((await askConfigurations(url, pairs)).tags).toEqual(state.tags);
    expect(requests.answers).toBeGreaterThan(10 * KILLS);
    expect(killer.figures.duringLoad).toBeGreaterThan(0);
    expect(killer.figures.loading + killer.figures.following).toBeGreaterThan(0);
  },
  60_000 + KILLS * 20_000,
);
