/** Mirrors are killed one after the other; callers must not notice. */
import { setTimeout as delay } from "node:timers/promises";
import { Client } from "pg";
import { until } from "../../fixtures/wait.js";
import { historyOf, numbers, type Pairs, PAIRS } from "./pairs.js";
import { askAccept, askAny, type Shown } from "./queries.js";
import type { Random } from "./random.js";
import { command, logs, type Settings, WRITES } from "./services.js";

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
export class MirrorKiller {
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

/** Queries a service continuously. */
export class RequestLoop {
  readonly wrong: string[] = [];
  readonly statuses: Record<number, number> = {};
  answers = 0;
  /** Answers on offers that had to be there. */
  current = 0;
  readonly #url: string;
  readonly #pairs: Pairs;
  readonly #random: Random;
  #isThere = false;

  constructor(url: string, pairs: Pairs, random: Random) {
    this.#url = url;
    this.#pairs = pairs;
    this.#random = random;
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const shown = await askAny(this.#url, this.#pairs, this.#random);
      this.#note(shown, [200]);
      if (shown.tags !== undefined) await this.#askOffer(shown.tags);
      await delay(5);
    }
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
    this.#note(shown, isCurrent ? [200] : [200, 404, 503]);
  }

  /** Mostly one that the ledger still has as it was shown: on a slow machine the others would be nearly all. */
  #pairOf(tags: Shown["tags"] & object): number {
    const now = this.#pairs.now.tags;
    const same = numbers.filter((pair) => tags[pair] === now[pair]);
    const [first, ...others] = same;
    if (first === undefined || this.#random.below(4) === 0) return this.#random.below(PAIRS);
    return this.#random.of([first, ...others]);
  }

  #note({ status, body, wrong }: Shown, allowed: readonly number[]): void {
    // 503 is allowed only before the first snapshot.
    if (status === 503 && !this.#isThere) return;
    this.#isThere = true;
    this.answers++;
    this.statuses[status] = (this.statuses[status] ?? 0) + 1;
    if (wrong !== undefined) this.wrong.push(wrong);
    if (!allowed.includes(status)) this.wrong.push(`${status} ${JSON.stringify(body)}`);
  }
}
