/** Requests by every protocol, at a rate and no more than so many at a time; each answer is judged. */
import { setTimeout as delay } from "node:timers/promises";
import { Code } from "@connectrpc/connect";
import type { Random } from "../test/ingest/database/random.js";
import { type Outcome, protocols } from "../test/fixtures/protocols.js";
import { Latencies } from "./latencies.js";
import type { Judge } from "./model/oracle.js";
import { anyQuestion, callOf, type Question } from "./model/queries.js";
import type { World } from "./model/world.js";

/** By their weights. */
const mix = [
  ...Array.from({ length: 4 }, () => "REST"),
  ...Array.from({ length: 2 }, () => "Connect JSON"),
  "Connect binary",
  ...Array.from({ length: 3 }, () => "gRPC"),
  "gRPC-Web",
];
/** Requests under way at a time: many, since those for what is not there wait. */
const MOST_AT_ONCE = 96;
/** How often it is looked for what is due, in milliseconds. */
const TURN_MS = 10;
/** No answer takes as long. */
const PATIENCE_MS = 60_000;
/** What is wrong is told no more often. */
const MOST_TOLD = 20;

export class Load {
  readonly byProtocol: Record<string, number> = {};
  readonly byStatus: Record<string, number> = {};
  readonly latencies = new Latencies();
  /** What was wrong with the first answers that were. */
  readonly wrong: string[] = [];
  wrongs = 0;
  readonly #world: World;
  readonly #judge: Judge;
  readonly #random: Random;
  readonly #underWay = new Set<Promise<void>>();

  constructor(world: World, judge: Judge, random: Random) {
    this.#world = world;
    this.#judge = judge;
    this.#random = random;
  }

  /** Asks `rate` times a second until the signal is aborted, and waits for the last answers. */
  async run(url: string, rate: number, signal: AbortSignal): Promise<void> {
    let due = performance.now();
    while (!signal.aborted) {
      const now = performance.now();
      // What was held up for long is not made up for.
      for (due = Math.max(due, now - 1_000); due <= now && this.#underWay.size < MOST_AT_ONCE; due += 1_000 / rate) {
        const asking = this.#ask(url).finally(() => this.#underWay.delete(asking));
        this.#underWay.add(asking);
      }
      await delay(TURN_MS, undefined, { signal }).catch(() => undefined);
    }
    await Promise.race([Promise.all(this.#underWay), delay(PATIENCE_MS, undefined, { ref: false })]);
    if (this.#underWay.size > 0) this.#tell(`${this.#underWay.size} requests were not answered in ${PATIENCE_MS} ms`);
  }

  /** Judges an answer that came to somebody else, too. */
  note(protocol: string, question: Question, outcome: Outcome, sent: ReturnType<Judge["sent"]>): void {
    this.#count(this.byProtocol, protocol);
    this.#count(this.byStatus, outcome.ok ? "ok" : Code[outcome.code]);
    const wrong = this.#judge.received(question, outcome, sent);
    if (wrong !== undefined) this.#tell(`${protocol}: ${wrong}`);
  }

  async #ask(url: string): Promise<void> {
    const name = mix[this.#random.below(mix.length)] ?? "REST";
    const question = anyQuestion(this.#world, this.#random);
    const call = callOf(question);
    const sent = this.#judge.sent();
    try {
      const outcome = await protocols[name]?.(url, call);
      if (outcome === undefined) throw new Error(`there is no protocol ${name}`);
      this.latencies.add(performance.now() - sent.time);
      this.note(name, question, outcome, sent);
    } catch (error) {
      this.#tell(`${name}: no answer: ${String(error)} ${error instanceof Error ? String(error.cause) : ""}`);
    }
  }

  #tell(wrong: string): void {
    this.wrongs++;
    if (this.wrong.length < MOST_TOLD) this.wrong.push(wrong);
  }

  #count(counts: Record<string, number>, what: string): void {
    counts[what] = (counts[what] ?? 0) + 1;
  }
}
