/** Whatever is killed, and whenever: no answer is wrong, and processes at one offset have the same contracts. */
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { ownServer } from "../../fixtures/postgres.js";
import type { Program } from "../../fixtures/program.js";
import { until } from "../../fixtures/wait.js";
import { Pairs, PAIRS } from "./pairs.js";
import { askAccept, askAny, askConfigurations, Caller } from "./queries.js";
import { Random } from "./random.js";
import { expected, expectedContracts, ReplicaObserver } from "./replica-observer.js";
import { becomesReady, command, inBackground, listening, onLedger } from "./services.js";

const KILLS = Number(process.env["OFFLEDGER_TEST_KILLS"] ?? 20);
const SEED = Number(process.env["OFFLEDGER_TEST_SEED"] ?? 20_261_128);

/** A program that is started again wherever it is killed. */
class Killable {
  url = "";
  kills = 0;
  #program: Program | undefined;

  constructor(readonly start: () => Program) {}

  async run(): Promise<void> {
    this.#program = this.start();
    this.url = await listening(this.#program);
  }

  async kill(): Promise<void> {
    this.kills++;
    this.url = "";
    this.#program?.signal("SIGKILL");
    await this.#program?.ended();
  }
}

test(
  `${KILLS} kills of mirrors, replicas and the database`,
  async () => {
    const server = await ownServer();
    onTestFinished(() => server.remove());
    const random = new Random(SEED);
    const pairs = new Pairs(1_000);
    const { settings } = await onLedger(pairs, server.url);
    const killable = (name: "mirror" | "api") => new Killable(() => command(name, settings));
    const mirrors = [killable("mirror"), killable("mirror")];
    const replicas = [killable("api"), killable("api")];
    for (const one of [...mirrors, ...replicas]) await one.run();
    for (const { url } of replicas) await becomesReady(url);

    const observers = [1, 50_000_000].map((cacheBytes) => new ReplicaObserver(settings.databaseUrl, pairs, cacheBytes));
    onTestFinished(async () => void (await Promise.all(observers.map((observer) => observer.close()))));
    const callers = replicas.map(() => new Caller());
    const asking = callers.map((caller, index) => (signal: AbortSignal) => {
      const queries = new Random(SEED + 2 + index);
      return caller.keepAsking(signal, async () => {
        const url = replicas[index]?.url ?? "";
        if (url === "") return;
        try {
          const shown = await askAny(url, pairs, queries);
          caller.note(shown, [200, 503]);
          const pair = queries.below(PAIRS);
          if (shown.tags !== undefined)
            caller.note(await askAccept(url, pair, shown.tags[pair] ?? "0.0"), [200, 404, 503]);
        } catch (error) {
          // It was killed while it answered.
          if (replicas[index]?.url === url && !(error instanceof TypeError)) throw error;
        }
      });
    });
    const background = inBackground(
      (signal) => pairs.keepChanging(new Random(SEED + 1), 10, signal),
      ...asking,
      ...observers.map((observer) => (signal: AbortSignal) => observer.keepLooking(signal)),
    );

    let restarts = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      await delay(random.next() * 1_500);
      const victim = random.of<Killable | "database">(["database", ...mirrors, ...replicas]);
      if (victim === "database") {
        restarts++;
        await server.stop("immediate");
        await delay(random.next() * 1_000);
        await server.start();
      } else {
        await victim.kill();
        await delay(random.next() * 500);
        await victim.run();
      }
    }
    for (const { url } of replicas) await becomesReady(url);
    await background.end();
    const state = pairs.replace(...Array.from({ length: PAIRS }, (_, pair) => pair));
    const answers = callers.map((caller) => caller.answers);
    console.log(
      `${KILLS} kills, seed ${SEED}: mirrors ${mirrors.map(({ kills }) => kills).join()}, replicas ` +
        `${replicas.map(({ kills }) => kills).join()}, database ${restarts}; ${pairs.ledger.end} updates, ` +
        `${observers.map(({ readings }) => readings).join(" and ")} readings, ${answers.join(" and ")} answers, ` +
        JSON.stringify(callers.map(({ statuses }) => statuses)),
    );

    expect([...callers.flatMap(({ wrong }) => wrong), ...observers.flatMap(({ wrong }) => wrong)]).toEqual([]);
    for (const observer of observers) {
      await observer.caughtUp(state.offset);
      expect(await observer.contents()).toEqual(expectedContracts(pairs.ledger));
      expect(await observer.lists()).toMatchObject({ ...expected(state), offset: state.offset });
      expect(observer.returns).toBe(0);
    }
    for (const { url } of replicas) {
      await until("the last update is served", async () => {
        const { tags } = await askConfigurations(url, pairs);
        return tags?.join() === state.tags.join();
      });
    }
    for (const count of answers) expect(count).toBeGreaterThan(10 * KILLS);
    expect(restarts).toBeGreaterThan(0);
  },
  60_000 + KILLS * 15_000,
);
