/**
 * Whatever is killed, and whenever, while the ledger changes, is pruned and restored: no answer is wrong, none that a client keeps
 * is stale, and processes at one offset have the same contracts. All expectations come from the script of the ledger.
 */
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { CachedCaller } from "../../caching/cached-caller.js";
import type { Kept } from "../../caching/documented-client.js";
import { type HttpCall, send } from "../../caching/http.js";
import { parties } from "../../fixtures/elements.js";
import { ownServer } from "../../fixtures/postgres.js";
import type { Program } from "../../fixtures/program.js";
import {
  account,
  allInstrumentConfigurations,
  instrumentConfiguration,
  leg,
  reject,
  settlement,
  settlementFactory,
  transferChoice,
  transferFactory,
  transferV1,
} from "../../fixtures/requests.js";
import { until } from "../../fixtures/wait.js";
import { holder, idsOf, instrument, numbers, Pairs, PAIRS, type State } from "./pairs.js";
import { askAccept, askAny, askConfigurations, Caller } from "./queries.js";
import { Random } from "./random.js";
import { expected, expectedContracts, ReplicaObserver } from "./replica-observer.js";
import { becomesReady, command, inBackground, listening, onLedger } from "./services.js";

const KILLS = Number(process.env["OFFLEDGER_TEST_KILLS"] ?? 15);
const SEED = Number(process.env["OFFLEDGER_TEST_SEED"] ?? 20_261_128);
/** They make snapshot loads slow, so that mirrors are killed within them too. */
const UNCHANGING_CONTRACTS = 2_000;

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

/** A request about one pair, or two. */
function randomCall({ tags }: State, random: Random): HttpCall {
  const pair = random.below(PAIRS);
  const { offer } = idsOf(pair, tags[pair] ?? "1.0");
  const [who, what] = [holder(pair), instrument(pair)];
  const instrumentId = { admin: parties.registrar, id: what };
  const other = random.below(PAIRS);
  const legs = [leg(account(who), account(who), what), leg(account(holder(other)), account(who), instrument(other))];
  const identifier = { source: parties.registrar, id: what, scheme: "Internal" };
  return random.of<HttpCall>([
    { path: transferFactory(), body: transferV1(who, "bob", { instrumentId }) },
    { path: settlementFactory(), body: settlement(legs, []) },
    { path: instrumentConfiguration, body: { registrar: parties.registrar, instrumentIdentifier: identifier } },
    { path: transferChoice("v1", "accept")(offer), body: { meta: {} } },
    { path: reject(offer), body: { meta: {} } },
    { path: allInstrumentConfigurations },
  ]);
}

/** Whether an answer has only contracts of one state: each id has the tag of its pair there. */
function isOf({ tags, single }: State, body: string): boolean {
  const ofPairs = [...body.matchAll(/"(?:configuration|credential|offer|locked|holding)-(\d)-(\d+\.\d+)"/g)];
  const rules = [...body.matchAll(/"rule-(\d+\.\d+)"/g)];
  return ofPairs.every(([, pair, tag]) => tags[Number(pair)] === tag) && rules.every(([, tag]) => tag === single);
}

test(
  `${KILLS} kills of mirrors, replicas and the database`,
  async () => {
    const server = await ownServer();
    onTestFinished(() => server.remove());
    const random = new Random(SEED);
    const pairs = new Pairs(UNCHANGING_CONTRACTS);
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

    const running = () => replicas.map(({ url }) => url).filter((url) => url !== "");
    const cached = new CachedCaller(running, new Random(SEED + 10));
    const wrong: string[] = [];
    /** Right is the state of the latest event, or a later one. A ledger that was restored had two of some offsets. */
    const check = ({ key, offset: keptAt, body }: Kept): void => {
      const latest = cached.cache.latest?.offset ?? 0;
      const highest = Math.max(pairs.ledger.end, keptAt, latest);
      for (let offset = latest; offset <= highest; offset++)
        if (pairs.at(offset).some((state) => isOf(state, body))) return;
      wrong.push(`${key} kept at ${keptAt}, the latest event is at ${latest}: ${body}`);
    };
    const background = inBackground(
      (signal) => pairs.keepChanging(new Random(SEED + 1), 200, signal),
      ...asking,
      ...observers.map((observer) => (signal: AbortSignal) => observer.keepLooking(signal)),
      async (signal) => {
        const calls = new Random(SEED + 11);
        while (!signal.aborted) {
          const kept = await cached.ask(randomCall(pairs.now, calls));
          if (kept !== undefined) check(kept);
          await delay(2);
        }
      },
    );
    const streaming = inBackground((signal) => cached.run(signal));

    let restarts = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      await delay(random.next() * 1_500);
      // A mirror that cannot go on from its offset loads a snapshot.
      if (kill % 5 === 1) pairs.restore(5 + random.below(20));
      if (kill % 5 === 3) pairs.prune();
      const victim = random.of<Killable | "database">(["database", ...mirrors, ...mirrors, ...replicas]);
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
    const state = pairs.replace(...numbers);
    const answers = callers.map((caller) => caller.answers);
    console.log(
      `${KILLS} kills, seed ${SEED}: mirrors ${mirrors.map(({ kills }) => kills).join()}, replicas ` +
        `${replicas.map(({ kills }) => kills).join()}, database ${restarts}; ${pairs.ledger.end} updates, ` +
        `${pairs.restores} restores, ${observers.map(({ readings }) => readings).join(" and ")} readings, ` +
        `${answers.join(" and ")} answers, ${JSON.stringify(callers.map(({ statuses }) => statuses))}, ` +
        JSON.stringify(cached.figures),
    );

    expect([...callers, ...observers].flatMap((one) => one.wrong)).toEqual([]);
    for (const observer of observers) {
      await observer.caughtUp(state.offset);
      expect(await observer.contents()).toEqual(expectedContracts(pairs.ledger));
      const contractCount = expectedContracts(pairs.ledger).length;
      expect(await observer.lists()).toEqual({ ...expected(state), offset: state.offset, contractCount });
      expect(observer.returns).toBeLessThanOrEqual(pairs.restores);
    }
    for (const { url } of replicas) {
      await until("the last update is served", async () => {
        const { tags } = await askConfigurations(url, pairs);
        return tags?.join() === state.tags.join();
      });
    }
    await until("the client has the last change", () => cached.cache.latest?.offset === state.offset);
    for (let count = 0; count < 100; count++) await cached.ask(randomCall(pairs.now, random));
    const kept = cached.cache.kept.flatMap(({ key }) => cached.cache.use(key) ?? []);
    for (const { key, body } of kept) {
      const fresh = await Promise.all(running().map((url) => send(url, JSON.parse(key) as HttpCall)));
      if (fresh.some((one) => one.body !== body)) wrong.push(`at the end: ${key}: ${body}`);
    }
    await streaming.end();
    expect(wrong).toEqual([]);
    expect(kept.length).toBeGreaterThan(0);
    const { used, notModified, reset, changed } = cached.figures;
    expect(Math.min(used, notModified, reset, changed)).toBeGreaterThan(0);
    for (const count of answers) expect(count).toBeGreaterThan(10 * KILLS);
    expect(restarts).toBeGreaterThan(0);
  },
  180_000 + KILLS * 30_000,
);
