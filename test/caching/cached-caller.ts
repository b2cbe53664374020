/** The documented client over HTTP: requests to any of some replicas, and events from one after the other. */
import { setTimeout as delay } from "node:timers/promises";
import type { Random } from "../ingest/database/random.js";
import { DocumentedClient, isNotModified, type Kept } from "./documented-client.js";
import { events, type HttpCall, send } from "./http.js";

export class CachedCaller {
  readonly cache = new DocumentedClient({ now: Date.now, elapsed: () => performance.now() }, 200);
  readonly figures = { used: 0, notModified: 0, reset: 0, changed: 0, heartbeat: 0 };
  readonly #urls: () => readonly string[];
  readonly #random: Random;
  #cut = new AbortController();

  /** `urls` are those of the replicas that run now. */
  constructor(urls: () => readonly string[], random: Random) {
    this.#urls = urls;
    this.#random = random;
  }

  /** The kept answer if there is one, which has to be right. Otherwise asks, and may keep the answer. */
  async ask(call: HttpCall): Promise<Kept | undefined> {
    const key = JSON.stringify(call);
    const kept = this.cache.use(key);
    if (kept !== undefined) {
      this.figures.used++;
      return kept;
    }
    const earlier = this.cache.earlier(key);
    const response = await send(this.#random.of(this.#some()), call, earlier?.etag).catch(() => undefined);
    if (response === undefined) return undefined;
    if (isNotModified(response.headers)) this.figures.notModified++;
    this.cache.receive(key, response, earlier);
    return undefined;
  }

  /** Has a stream until the signal is aborted, and cuts it now and then. */
  async run(signal: AbortSignal): Promise<void> {
    signal.addEventListener("abort", () => this.#cut.abort());
    for (let count = 0; !signal.aborted; count++) {
      this.#cut = new AbortController();
      const timer = setTimeout(() => this.#cut.abort(), 1_000 + this.#random.below(4_000));
      this.cache.streamOpened();
      await this.#stream(count).catch(() => undefined);
      clearTimeout(timer);
      this.cache.streamEnded();
      await delay(100);
    }
  }

  async #stream(count: number): Promise<void> {
    const urls = this.#some();
    for await (const event of events(urls[count % urls.length] ?? "", this.cache.resumeToken, this.#cut.signal)) {
      this.cache.handle(event);
      this.figures[event.event as "reset" | "changed" | "heartbeat"]++;
    }
  }

  /** A request fails where no replica runs. */
  #some(): readonly [string, ...string[]] {
    const [first = "http://127.0.0.1:1", ...others] = this.#urls();
    return [first, ...others];
  }
}
