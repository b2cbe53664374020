/** The documented client over HTTP: requests to any of some replicas, and server-sent events from one. */
import { setTimeout as delay } from "node:timers/promises";
import type { Random } from "../ingest/database/random.js";
import { DocumentedClient, isNotModified, type Kept, type ServerSentEvent } from "./documented-client.js";

export interface HttpCall {
  readonly path: string;
  /** Undefined for GET. */
  readonly body?: object | undefined;
}

const MAX_REMEMBERED = 200;
const RETRY_MS = 100;

export class HttpClient {
  readonly cache = new DocumentedClient({ now: Date.now, elapsed: () => performance.now() }, MAX_REMEMBERED);
  readonly figures = {
    requests: 0,
    kept: 0,
    notModified: 0,
    served: 0,
    streams: 0,
    reset: 0,
    changed: 0,
    heartbeat: 0,
  };
  readonly statuses: Record<number, number> = {};
  readonly #urls: readonly string[];
  readonly #random: Random;
  readonly #calls = new Map<string, HttpCall>();
  #cut = new AbortController();

  /** The list of URLs may change in place. */
  constructor(urls: readonly string[], random: Random) {
    this.#urls = urls;
    this.#random = random;
  }

  callOf(key: string): HttpCall {
    const call = this.#calls.get(key);
    if (call === undefined) throw new Error(`no call ${key}`);
    return call;
  }

  /** The kept answer if there is one, which has to be right. */
  async ask(call: HttpCall): Promise<Kept | undefined> {
    const key = JSON.stringify(call);
    this.#calls.set(key, call);
    const kept = this.cache.use(key);
    if (kept !== undefined) {
      this.figures.served++;
      return kept;
    }
    const earlier = this.cache.earlier(key);
    const url = this.#urls[this.#random.below(this.#urls.length)] ?? "";
    const response = await send(url, call, earlier?.etag).catch(() => undefined);
    if (response === undefined) return undefined;
    this.figures.requests++;
    if (isNotModified(response.headers)) this.figures.notModified++;
    this.cache.receive(key, response, earlier);
    this.statuses[response.status] = (this.statuses[response.status] ?? 0) + 1;
    if (this.cache.use(key) !== undefined) this.figures.kept++;
    return undefined;
  }

  /** Ends the stream; it goes on at another replica. */
  cut(): void {
    this.#cut.abort();
  }

  /** Has a stream until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    signal.addEventListener("abort", () => this.cut());
    for (let count = 0; !signal.aborted; count++) {
      this.#cut = new AbortController();
      this.cache.streamOpened();
      await this.#stream(this.#urls[count % this.#urls.length] ?? "", this.#cut.signal).catch(() => undefined);
      this.cache.streamEnded();
      await delay(RETRY_MS);
    }
  }

  async #stream(url: string, signal: AbortSignal): Promise<void> {
    const token = this.cache.resumeToken;
    const headers: Record<string, string> = token === "" ? {} : { "last-event-id": token };
    const response = await fetch(`${url}/api/offledger/v1/watch`, { headers, signal });
    if (!response.ok || response.body === null) return;
    this.figures.streams++;
    let text = "";
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      const blocks = text.split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) this.#handle(parse(block));
    }
  }

  #handle(event: ServerSentEvent): void {
    // The first block only has the time to retry after.
    if (event.event === "") return;
    this.cache.handle(event);
    this.figures[event.event as "reset" | "changed" | "heartbeat"]++;
  }
}

/** `etag` is that of a response which the client has. */
export async function send(url: string, { path, body }: HttpCall, etag = "") {
  const headers = { "content-type": "application/json", "offledger-if-none-match": etag };
  const posted = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  const response = await fetch(url + path, { headers, ...posted });
  return { status: response.status, headers: new Map(response.headers), body: await response.text() };
}

function parse(block: string): ServerSentEvent {
  const fields = new Map(block.split("\n").map((line) => line.split(/: (.*)/s) as [string, string]));
  return { event: fields.get("event") ?? "", data: fields.get("data") ?? "" };
}
