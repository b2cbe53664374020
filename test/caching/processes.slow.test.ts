/**
 * No stale answer from processes: two replicas answer and stream, mirrors are killed one after the other while the ledger
 * changes, is pruned and restored, and a replica is killed too. The client of docs/caching.md answers from its cache
 * whenever it may. What is right comes from the script of the ledger: every contract says in its id when it was created.
 */
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { Participant } from "../scripted-participant/participant.js";
import { parties } from "../fixtures/elements.js";
import {
  account,
  instrumentConfiguration,
  leg,
  reject,
  settlement,
  settlementFactory,
  transferChoice,
  transferFactory,
  transferV1,
} from "../fixtures/requests.js";
import { registry } from "../fixtures/run-service.js";
import { until } from "../fixtures/wait.js";
import { holder, idsOf, instrument, numbers, Pairs, PAIRS, type State } from "../ingest/database/pairs.js";
import { Random } from "../ingest/database/random.js";
import {
  becomesReady,
  command,
  inBackground,
  listening,
  newDatabase,
  type Settings,
} from "../ingest/database/services.js";
import { DocumentedClient, isNotModified, type Kept, type ServerSentEvent } from "./documented-client.js";

const KILLS = Number(process.env["OFFLEDGER_TEST_KILLS"] ?? 4);
const SEED = Number(process.env["OFFLEDGER_TEST_SEED"] ?? 20_261_123);
/** They make snapshot loads slow. */
const UNCHANGING_CONTRACTS = 2_000;
const { registrar } = parties;

interface HttpCall {
  readonly path: string;
  /** Undefined for GET. */
  readonly body?: object | undefined;
}

/** A request about one pair, or two. */
function randomCall({ tags }: State, random: Random): HttpCall {
  const pair = random.below(PAIRS);
  const { offer } = idsOf(pair, tags[pair] ?? "1.0");
  const [who, what] = [holder(pair), instrument(pair)];
  const instrumentId = { admin: registrar, id: what };
  const other = random.below(PAIRS);
  const legs = [leg(account(who), account(who), what), leg(account(holder(other)), account(who), instrument(other))];
  const identifier = { source: registrar, id: what, scheme: "Internal" };
  return random.of<HttpCall>([
    { path: transferFactory(), body: transferV1(who, "bob", { instrumentId }) },
    { path: transferFactory(), body: transferV1(who, who, { instrumentId }) },
    { path: settlementFactory(), body: settlement(legs, []) },
    { path: instrumentConfiguration, body: { registrar, instrumentIdentifier: identifier } },
    { path: transferChoice("v1", "accept")(offer), body: { meta: {} } },
    { path: reject(offer), body: { meta: {} } },
    { path: `${registry()}/metadata/v1/info` },
  ]);
}

/** Whether an answer has only contracts of one state: each id has the tag of its pair there. */
function isOf({ tags, single }: State, body: string): boolean {
  const ofPairs = [...body.matchAll(/"(?:configuration|credential|offer|locked|holding)-(\d)-(\d+\.\d+)"/g)];
  const rules = [...body.matchAll(/"rule-(\d+\.\d+)"/g)];
  return ofPairs.every(([, pair, tag]) => tags[Number(pair)] === tag) && rules.every(([, tag]) => tag === single);
}

/** The documented client over HTTP: requests to any of some replicas, and server-sent events from one. */
class HttpClient {
  readonly cache = new DocumentedClient({ now: Date.now, elapsed: () => performance.now() }, 200);
  readonly figures = { notModified: 0, served: 0, reset: 0, changed: 0, heartbeat: 0 };
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
    if (isNotModified(response.headers)) this.figures.notModified++;
    this.cache.receive(key, response, earlier);
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
      await delay(100);
    }
  }

  async #stream(url: string, signal: AbortSignal): Promise<void> {
    const token = this.cache.resumeToken;
    const headers: Record<string, string> = token === "" ? {} : { "last-event-id": token };
    const response = await fetch(`${url}/api/offledger/v1/watch`, { headers, signal });
    if (!response.ok || response.body === null) return;
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
async function send(url: string, { path, body }: HttpCall, etag = "") {
  const headers = { "content-type": "application/json", "offledger-if-none-match": etag };
  const posted = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  const response = await fetch(url + path, { headers, ...posted });
  return { status: response.status, headers: new Map(response.headers), body: await response.text() };
}

function parse(block: string): ServerSentEvent {
  const fields = new Map(block.split("\n").map((line) => line.split(/: (.*)/s) as [string, string]));
  return { event: fields.get("event") ?? "", data: fields.get("data") ?? "" };
}

test(
  `holds over ${KILLS} kills`,
  async () => {
    const random = new Random(SEED);
    const pairs = new Pairs(UNCHANGING_CONTRACTS);
    const participant = await Participant.start({ ledger: pairs.ledger, checkpointMs: 20 });
    onTestFinished(() => participant.stop());
    const settings: Settings = { databaseUrl: await newDatabase(), ledgerUrl: participant.url };
    const replicas = [command("api", settings), command("api", settings)];
    const urls = await Promise.all(replicas.map(listening));
    // One writes, and the other takes over.
    const mirrors = [command("mirror", settings), command("mirror", settings)];
    await Promise.all(urls.map(becomesReady));

    const client = new HttpClient(urls, new Random(SEED + 1));
    const wrong: string[] = [];
    let answers = 0;
    /** Right is the state of the latest event, or a later one. A ledger that was restored had two of some offsets. */
    const check = (kept: Kept): void => {
      const { latest } = client.cache;
      if (latest === undefined) throw new Error("an answer was used before the first event");
      answers++;
      const { end } = pairs.ledger;
      const highest = Math.max(end, kept.offset, latest.offset);
      for (let offset = latest.offset; offset <= highest; offset++)
        if (pairs.at(offset).some((state) => isOf(state, kept.body))) return;
      wrong.push(`${kept.key} kept at ${kept.offset}, the latest event is at ${latest.offset}: ${kept.body}`);
    };
    const asking = async (signal: AbortSignal): Promise<void> => {
      while (!signal.aborted) {
        const kept = await client.ask(randomCall(pairs.now, random));
        if (kept !== undefined) check(kept);
        await delay(2);
      }
    };
    const cutting = async (signal: AbortSignal): Promise<void> => {
      while (!signal.aborted) {
        await delay(1_000 + random.below(4_000));
        client.cut();
      }
    };
    const background = inBackground(
      (signal) => pairs.keepChanging(new Random(SEED + 2), 200, signal),
      (signal) => asking(signal),
      (signal) => asking(signal),
      (signal) => cutting(signal),
    );
    const streaming = inBackground((signal) => client.run(signal));

    for (let kill = 0; kill < KILLS; kill++) {
      await delay(1_000 + random.below(3_000));
      const victim = random.below(mirrors.length);
      mirrors[victim]?.signal("SIGKILL");
      if (kill % 3 === 1) pairs.restore(5 + random.below(10));
      if (kill % 3 === 2) pairs.prune();
      await delay(random.below(1_000));
      mirrors[victim] = command("mirror", settings);
      if (kill % 2 === 1) continue;
      replicas[1]?.signal("SIGKILL");
      replicas[1] = command("api", settings);
      urls[1] = await listening(replicas[1]);
    }
    await Promise.all(urls.map(becomesReady));
    await background.end();

    const state = pairs.replace(...numbers);
    await until("the client has the last change", () => client.cache.latest?.offset === state.offset);
    // Keeps an answer to each request, and then compares all with those of both replicas.
    for (let count = 0; count < 200; count++) await client.ask(randomCall(pairs.now, random));
    const kept = client.cache.kept.flatMap(({ key }) => client.cache.use(key) ?? []);
    for (const { key, body } of kept) {
      for (const url of urls) {
        const fresh = await send(url, client.callOf(key));
        if (fresh.status !== 200 || fresh.body !== body) wrong.push(`at the end: ${key}: ${body}\n${fresh.body}`);
      }
    }
    await streaming.end();
    console.log(
      `${KILLS} kills, seed ${SEED}: ${pairs.ledger.end} updates, ` +
        `${pairs.restores} restores, ${answers} answers from the cache, ${JSON.stringify(client.figures)}`,
    );
    expect(wrong).toEqual([]);
    expect(kept.length).toBeGreaterThan(0);
    expect(answers).toBeGreaterThan(0);
    expect(client.figures.changed).toBeGreaterThan(0);
    expect(client.figures.notModified).toBeGreaterThan(0);
  },
  120_000 + KILLS * 15_000,
);
