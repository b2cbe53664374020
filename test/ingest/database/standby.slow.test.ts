/** Two mirrors and three replicas on one database: callers do not notice which mirror is the leader. */
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import type { Program } from "../../fixtures/program.js";
import { until } from "../../fixtures/wait.js";
import { Pairs } from "./pairs.js";
import { askAny, type Shown } from "./queries.js";
import { Random } from "./random.js";
import { becomesReady, command, inBackground, listening, logs, onLedger, unreadiness, WRITES } from "./services.js";
import { expected, expectedContracts, ReplicaObserver } from "./replica-observer.js";

/** Bound of a takeover, in milliseconds. */
const TAKEOVER_MS = 5_000;
/** Allowance for a busy machine. */
const SLOW_MS = 2_000;
const STANDBY = "another process writes the database";
const ENDS = "leadership ended: this process no longer writes the database";

test(
  "a mirror that stops or is killed is replaced in time, and callers see none of it",
  { timeout: 300_000 },
  async () => {
    const pairs = new Pairs(200);
    const { settings } = await onLedger(pairs);
    const first = command("mirror", settings);
    const firstUrl = await listening(first);
    await logs(first, WRITES);
    const second = command("mirror", settings);
    await Promise.all([becomesReady(firstUrl), listening(second).then(becomesReady)]);
    await logs(second, STANDBY);
    const urls = await Promise.all([1, 2, 3].map(() => listening(command("api", settings))));
    await Promise.all(urls.map(becomesReady));

    const observer = new ReplicaObserver(settings.databaseUrl, pairs, 50_000_000);
    onTestFinished(() => observer.close());
    const callers = urls.map((url, index) => new Caller(url, pairs, new Random(index)));
    const background = inBackground(
      (signal) => pairs.keepChanging(new Random(7), 20, signal),
      (signal) => observer.keepLooking(signal),
      ...callers.map((caller) => (signal: AbortSignal) => caller.run(signal)),
    );
    /** Milliseconds from now until a replica, and each caller, has seen an update that is committed from now on. */
    const untilSeen = async (): Promise<number> => {
      const since = performance.now();
      const { offset } = pairs.replaceSingle();
      await until("an update is seen", () => observer.offset >= offset);
      const took = performance.now() - since;
      await until("callers see it", () => callers.every((caller) => caller.offset >= offset));
      return took;
    };
    const ordinary = await untilSeen();
    await delay(2_000);
    expect(Math.max(...callers.map(({ oldest }) => oldest))).toBeLessThan(SLOW_MS);

    first.signal("SIGSTOP");
    const stopped = await untilSeen();
    expect(second.err).toContain(WRITES);
    await delay(1_000);
    first.signal("SIGCONT");
    await logs(first, ENDS);
    await logs(first, STANDBY);
    // It is on standby and needs nothing else.
    await until("the first is ready", async () => (await unreadiness(firstUrl)) === undefined);
    await delay(1_000);
    expect([first, second].map(written)).toEqual([1, 1]);

    second.signal("SIGKILL");
    const killed = await untilSeen();
    expect([first, second].map(written)).toEqual([2, 1]);

    const third = command("mirror", settings);
    await becomesReady(await listening(third));
    await logs(third, STANDBY);
    const since = performance.now();
    first.stop();
    expect((await first.ended()).code).toBe(0);
    await untilSeen();
    const ended = performance.now() - since;
    expect(written(third)).toBe(1);

    await delay(500);
    await background.end();
    const state = pairs.replace(0);
    await until("all is seen", async () =>
      JSON.stringify(await observer.lists()).includes(`"offset":${state.offset},`),
    );
    const oldest = Math.max(...callers.map((caller) => caller.oldest));
    console.log(
      `an update is seen after ${ms(ordinary)} ms; where the mirror was stopped ${ms(stopped)}, killed ${ms(killed)}, ended ` +
        `${ms(ended)} ms; ${callers.map(({ answers }) => answers).join(", ")} answers, the oldest of ${ms(oldest)} ms before`,
    );
    expect([...callers.flatMap(({ wrong }) => wrong), ...observer.wrong]).toEqual([]);
    expect(await observer.contents()).toEqual(expectedContracts(pairs.ledger));
    expect(await observer.lists()).toMatchObject(expected(state));
    expect(observer.returns).toBe(0);
    expect(Math.max(stopped, killed)).toBeLessThan(TAKEOVER_MS);
    expect(ended).toBeLessThan(TAKEOVER_MS);
    expect(oldest).toBeLessThan(TAKEOVER_MS + SLOW_MS);
    for (const caller of callers) expect(caller.answers).toBeGreaterThan(100);
  },
);

/** How often a mirror became the leader. */
const written = ({ err }: Program): number => err.split(WRITES).length - 1;

const ms = (milliseconds: number): string => milliseconds.toFixed(0);

/** Queries one replica continuously, and records impossible responses. */
class Caller {
  readonly wrong: string[] = [];
  answers = 0;
  /** The maximum age of a returned state at the time of its request, in milliseconds. */
  oldest = 0;
  /** The offset of the newest returned state. */
  offset = 0;
  readonly #url: string;
  readonly #pairs: Pairs;
  readonly #random: Random;

  constructor(url: string, pairs: Pairs, random: Random) {
    this.#url = url;
    this.#pairs = pairs;
    this.#random = random;
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#note(await askAny(this.#url, this.#pairs, this.#random));
      await delay(10);
    }
  }

  #note({ status, body, wrong, tags, asked }: Shown): void {
    this.answers++;
    if (status !== 200) this.wrong.push(`${status} ${JSON.stringify(body)}`);
    if (wrong !== undefined) this.wrong.push(wrong);
    if (tags === undefined) return;
    const states = this.#pairs.having(tags);
    const [from, to] = [states[0]?.offset ?? 0, states.at(-1)?.offset ?? 0];
    if (to < this.offset) this.wrong.push(`an answer of ${from} to ${to} after one of ${this.offset}`);
    this.offset = Math.max(this.offset, from);
    this.oldest = Math.max(this.oldest, asked - (states.at(-1)?.until ?? Infinity));
  }
}
