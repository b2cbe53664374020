/** Requests by every protocol at a bounded rate and concurrency. The oracle checks each response. */
import { createHistogram } from "node:perf_hooks";
import { setTimeout as delay } from "node:timers/promises";
import { Code } from "@connectrpc/connect";
import { type Outcome, protocols } from "../fixtures/protocols.js";
import type { Random } from "../ingest/database/random.js";
import type { Oracle, SentState } from "./oracle.js";
import { type Query, randomQuery, toCall } from "./queries.js";
import type { World } from "./world.js";

const mix = [
  ...Array.from({ length: 4 }, () => "REST"),
  ...Array.from({ length: 2 }, () => "Connect JSON"),
  "Connect binary",
  ...Array.from({ length: 3 }, () => "gRPC"),
  "gRPC-Web",
];
/** High, since requests for unknown contracts wait. */
const MAX_IN_FLIGHT = 96;
const TICK_MS = 10;
const DRAIN_TIMEOUT_MS = 60_000;
const MAX_MESSAGES = 20;

export class RequestLoad {
  readonly byProtocol: Record<string, number> = {};
  readonly byStatus: Record<string, number> = {};
  /** In microseconds. */
  readonly latencies = createHistogram();
  readonly messages: string[] = [];
  wrongResponses = 0;
  readonly #world: World;
  readonly #oracle: Oracle;
  readonly #random: Random;
  readonly #inFlight = new Set<Promise<void>>();

  constructor(world: World, oracle: Oracle, random: Random) {
    this.#world = world;
    this.#oracle = oracle;
    this.#random = random;
  }

  /** Sends `rate` requests per second until the signal is aborted, then waits for the last responses. */
  async run(url: string, rate: number, signal: AbortSignal): Promise<void> {
    let due = performance.now();
    while (!signal.aborted) {
      const now = performance.now();
      for (due = Math.max(due, now - 1_000); due <= now && this.#inFlight.size < MAX_IN_FLIGHT; due += 1_000 / rate) {
        const request = this.#send(url).finally(() => this.#inFlight.delete(request));
        this.#inFlight.add(request);
      }
      await delay(TICK_MS, undefined, { signal }).catch(() => undefined);
    }
    await Promise.race([Promise.all(this.#inFlight), delay(DRAIN_TIMEOUT_MS, undefined, { ref: false })]);
    if (this.#inFlight.size > 0) {
      this.fail(`${this.#inFlight.size} requests had no response after ${DRAIN_TIMEOUT_MS} ms`);
    }
  }

  record(protocol: string, query: Query, outcome: Outcome, sent: SentState): void {
    this.#count(this.byProtocol, protocol);
    this.#count(this.byStatus, outcome.ok ? "ok" : Code[outcome.code]);
    const error = this.#oracle.check(query, outcome, sent);
    if (error !== undefined) this.fail(`${protocol}: ${error}`);
  }

  /** Reports a wrong response, here or to other clients. */
  fail(message: string): void {
    this.wrongResponses++;
    if (this.messages.length < MAX_MESSAGES) this.messages.push(message);
  }

  async #send(url: string): Promise<void> {
    const name = mix[this.#random.below(mix.length)] ?? "REST";
    const query = randomQuery(this.#world, this.#random);
    const call = toCall(query);
    const sent = this.#oracle.recordSent();
    try {
      const outcome = await protocols[name]?.(url, call);
      if (outcome === undefined) throw new Error(`unknown protocol ${name}`);
      this.latencies.record(Math.max(1, Math.round((performance.now() - sent.time) * 1_000)));
      this.record(name, query, outcome, sent);
    } catch (error) {
      this.fail(`${name}: no response: ${String(error)} ${error instanceof Error ? String(error.cause) : ""}`);
    }
  }

  #count(counts: Record<string, number>, key: string): void {
    counts[key] = (counts[key] ?? 0) + 1;
  }
}
