/** A mirror killed at any moment leaves a consistent database, and callers do not notice: nothing partial, lost or duplicated. */
import { setTimeout as delay } from "node:timers/promises";
import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { until } from "../../fixtures/wait.js";
import { historyOf, numbers, Pairs, PAIRS } from "./pairs.js";
import { askAccept, askAny, askConfigurations, Caller, type Shown } from "./queries.js";
import { Random } from "./random.js";
import { expected, expectedContracts, ReplicaObserver } from "./replica-observer.js";
import { becomesReady, command, inBackground, listening, logs, onLedger, type Settings, WRITES } from "./services.js";

const KILLS = Number(process.env["OFFLEDGER_TEST_KILLS"] ?? 15);
const SEED = Number(process.env["OFFLEDGER_TEST_SEED"] ?? 20_260_105);
/** Contracts that never change. They make snapshot loads slow. */
const UNCHANGING_CONTRACTS = 3_000;

interface Plan {
  /** What happens to the ledger while no mirror runs, and while the one that is killed does. */
  readonly before?: "prune" | "restore";
  readonly meanwhile?: "prune" | "restore";
  /** The phase in which it is killed. */
  readonly moment: "starting" | "loading" | "following";
}

const PLANS: readonly [Plan, ...Plan[]] = [
  { before: "prune", moment: "loading" },
  { moment: "following", meanwhile: "restore" },
  { moment: "starting" },
  { before: "restore", moment: "loading" },
  { moment: "following" },
];

/** Starts mirrors and kills them, one at a time. */
class MirrorKiller {
  readonly figures = { starting: 0, loading: 0, following: 0, duringLoad: 0, prune: 0, restore: 0 };
  readonly #settings: Settings;
  readonly #pairs: Pairs;
  readonly #random: Random;
  readonly #client: Client;
  #isConnected: Promise<unknown> | undefined;

  constructor(settings: Settings, pairs: Pairs, random: Random) {
    this.#settings = settings;
    this.#pairs = pairs;
    this.#random = random;
    this.#client = new Client({ connectionString: settings.databaseUrl });
    // What is open is ended when the database is dropped.
    this.#client.on("error", () => undefined);
  }

  /** `offset` returns the offset of a replica. */
  async once(kill: number, offset: () => number): Promise<void> {
    const [random, figures] = [this.#random, this.figures];
    const plan = PLANS[kill % PLANS.length] ?? PLANS[0];
    if (kill > 0 && plan.before !== undefined) this.#disturb(plan.before);
    const before = await this.#served();
    const mirror = command("mirror", this.#settings);
    let isLoading = false;
    if (plan.moment === "starting") {
      await delay(random.next() * 1_500);
    } else {
      await logs(mirror, WRITES);
      if (plan.moment === "following") {
        const { end } = this.#pairs.ledger;
        await until("the mirror follows", () => offset() >= end);
        await delay(random.next() * 500);
      }
      if (plan.meanwhile !== undefined) this.#disturb(plan.meanwhile);
      if (plan.moment === "loading") isLoading = await this.#loading(before);
      await delay(random.next() * (isLoading ? 200 : 500));
    }
    mirror.signal("SIGKILL");
    await mirror.ended();
    if (isLoading && (await this.#served()) === before) figures.duringLoad++;
    else figures[plan.moment]++;
  }

  /** Whether a load begins. None may be seen: it may be short, or the mirror continues from the offset of the database. */
  async #loading(before: number): Promise<boolean> {
    const text = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'COPY offledger.%'";
    let isLoading = false;
    const begins = async (): Promise<boolean> => {
      isLoading = (await this.#rows(text)).length > 0;
      return isLoading || (await this.#served()) !== before;
    };
    // Long enough for a loaded machine.
    await until("a load begins or has ended", begins, 10_000).catch(() => undefined);
    return isLoading;
  }

  /** Prunes or restores the ledger. A mirror that cannot continue from its offset must load a snapshot. */
  #disturb(how: "prune" | "restore"): void {
    this.figures[how]++;
    if (how === "restore") return this.#pairs.restore(10 + this.#random.below(30));
    this.#pairs.replaceSingle();
    this.#pairs.prune();
  }

  /** Whether the database is at an offset. */
  async isAtOffset(offset: number): Promise<boolean> {
    const [row] = await this.#rows<{ at: string }>("SELECT ledger_offset AS at FROM offledger.state");
    return Number(row?.at) === offset;
  }

  /** The snapshot that is served; 0 before there is a schema. */
  async #served(): Promise<number> {
    const [there] = await this.#rows<{ found: boolean }>("SELECT to_regclass('offledger.state') IS NOT NULL AS found");
    if (there?.found !== true) return 0;
    const [row] = await this.#rows<{ served: string }>("SELECT generation AS served FROM offledger.state");
    return Number(row?.served);
  }

  async #rows<R extends object>(text: string): Promise<R[]> {
    await (this.#isConnected ??= this.#client.connect());
    return (await this.#client.query<R>(text)).rows;
  }

  async close(): Promise<void> {
    await this.#client.end().catch(() => undefined);
  }
}

/** Queries a service, and offers that it has shown. */
class RequestLoop extends Caller {
  /** Answers on offers that had to be there. */
  current = 0;
  readonly #url: string;
  readonly #pairs: Pairs;
  readonly #random: Random;
  #isThere = false;

  constructor(url: string, pairs: Pairs, random: Random) {
    super();
    this.#url = url;
    this.#pairs = pairs;
    this.#random = random;
  }

  run(signal: AbortSignal): Promise<void> {
    return this.keepAsking(signal, async () => {
      const shown = await askAny(this.#url, this.#pairs, this.#random);
      // 503 is allowed only before the first snapshot.
      if (shown.status === 503 && !this.#isThere) return;
      this.#isThere = true;
      this.note(shown);
      if (shown.tags !== undefined) await this.#askOffer(shown.tags);
    });
  }

  /**
   * An offer that was there is there, unless the ledger has archived it or was restored. What shows nothing yet of the
   * history that goes on may move along the one before: a mirror applies what it had received of that before the
   * ledger was restored, and it may archive there what in the ledger is active again.
   */
  async #askOffer(tags: Shown["tags"] & object): Promise<void> {
    const pair = this.#pairOf(tags);
    const tag = tags[pair] ?? "0.0";
    const { restores } = this.#pairs;
    const isOfThisHistory = tags.some((one) => historyOf(one) === restores);
    const shown = await askAccept(this.#url, pair, tag);
    const isCurrent = isOfThisHistory && this.#pairs.now.tags[pair] === tag && this.#pairs.restores === restores;
    if (isCurrent) this.current++;
    // While no mirror runs, another that the service does not know may exist: 503 after the wait.
    this.note(shown, isCurrent ? [200] : [200, 404, 503]);
  }

  /** Mostly one that the ledger still has as it was shown: on a slow machine the others would be nearly all. */
  #pairOf(tags: Shown["tags"] & object): number {
    const now = this.#pairs.now.tags;
    const same = numbers.filter((pair) => tags[pair] === now[pair]);
    const [first, ...others] = same;
    if (first === undefined || this.#random.below(4) === 0) return this.#random.below(PAIRS);
    return this.#random.of([first, ...others]);
  }
}

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
      await observer.caughtUp(state.offset);
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
