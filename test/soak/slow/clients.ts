/** Runs slow and aborting clients of all kinds concurrently. */
import { setTimeout as delay } from "node:timers/promises";
import type { Random } from "../../ingest/database/random.js";
import type { Oracle } from "../model/oracle.js";
import type { Query } from "../model/queries.js";
import type { RequestLoad } from "../request-load.js";
import { abortRequest, abortResponses, readSlowly, sendSlowly, staySilent } from "./http1.js";
import { abortRequestHttp2, readSlowlyHttp2, sendSlowlyHttp2, staySilentHttp2 } from "./http2.js";

export interface ClientContext {
  readonly url: string;
  readonly random: Random;
  readonly oracle: Oracle;
  readonly createQuery: () => Query;
  readonly record: RequestLoad["record"];
  readonly pause: (milliseconds: number) => Promise<unknown>;
  readonly signal: AbortSignal;
}

export type SlowClient = (context: ClientContext) => Promise<void>;

const clients = {
  sendSlowly,
  readSlowly,
  staySilent,
  abortRequest,
  abortResponses,
  sendSlowlyHttp2,
  readSlowlyHttp2,
  abortRequestHttp2,
  staySilentHttp2,
};
const names = Object.keys(clients) as (keyof typeof clients)[];

const CONCURRENCY = 16;

export class SlowClients {
  readonly counts: Record<string, number> = {};
  readonly #context: ClientContext;

  constructor(context: Omit<ClientContext, "pause">) {
    const { signal } = context;
    const pause = (ms: number) => delay(ms, undefined, { signal }).catch(() => undefined);
    this.#context = { ...context, pause };
  }

  async run(): Promise<void> {
    await Promise.all(Array.from({ length: CONCURRENCY }, () => this.#runClients()));
  }

  async #runClients(): Promise<void> {
    const { random, signal, pause } = this.#context;
    while (!signal.aborted) {
      const name = names[random.below(names.length)] ?? "sendSlowly";
      this.counts[name] = (this.counts[name] ?? 0) + 1;
      await clients[name](this.#context);
      await pause(100);
    }
  }
}
