/**
 * No stale answer, of any operation. A client that is written from docs/caching.md alone answers from its cache whenever that page
 * allows it, while contracts of the demo registry come, go and move, the ledger is restored, streams end, events and responses are
 * late, and time passes. What it answers is byte for byte what the service answered without a cache at the state of the latest
 * event, or a later one. OFFLEDGER_TEST_SCRIPTS is the number of scripts.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { JsonObject } from "@bufbuild/protobuf";
import fc from "fast-check";
import { expect, test } from "vitest";
import { operator } from "../../demo/registry.js";
import { startApp } from "../../src/app/app.js";
import { templates } from "../../src/registry/utility/templates.js";
import { successfulCalls } from "../fixtures/calls/index.js";
import { allInstrumentConfigurations } from "../fixtures/requests.js";
import { quiet } from "../fixtures/run-service.js";
import { until } from "../fixtures/wait.js";
import { creationsOf } from "../scripted-participant/elements.js";
import { ScriptedLedger } from "../scripted-participant/ledger.js";
import { Participant } from "../scripted-participant/participant.js";
import {
  DocumentedClient,
  type HttpResponse,
  isNotModified,
  type Kept,
  type ServerSentEvent,
} from "./documented-client.js";
import { events, type HttpCall, send } from "./http.js";

const SCRIPTS = Number(process.env["OFFLEDGER_TEST_SCRIPTS"] ?? 25);
const SEED = Number(process.env["OFFLEDGER_TEST_SEED"] ?? Date.now());
const OTHER_SYNCHRONIZER = "other-domain::1220";
const DAY = 86_400_000;
/** A credential of the demo has ended by then. */
const TEN_YEARS = 3_600 * DAY;

/** Those that are mirrored: each update of them is a state. */
const contracts = creationsOf(
  readFileSync("demo/registry.ndjson", "utf8")
    .split("\n")
    .filter((line) => line.includes("JsActiveContract"))
    .map((line) => JSON.parse(line) as JsonObject),
).filter(({ templateId }) => templates.some(({ qualifiedName }) => templateId.endsWith(`:${qualifiedName}`)));
const calls = Object.values(successfulCalls);

type Step =
  /** Contracts are archived, or created again under other ids, in one update. */
  | { readonly does: "change"; readonly which: readonly number[] }
  | { readonly does: "move"; readonly which: number }
  | { readonly does: "restore"; readonly by: number }
  | { readonly does: "ask"; readonly call: number; readonly isLate: boolean }
  | { readonly does: "arrive" | "cut" | "settle" }
  | { readonly does: "hold"; readonly isHeld: boolean }
  | { readonly does: "pass"; readonly ms: number };

const some = fc.nat(contracts.length - 1);
const ask = fc.record({
  does: fc.constant("ask" as const),
  call: fc.nat(calls.length - 1),
  isLate: fc.nat(4).map((one) => one === 0),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      does: fc.constant("change" as const),
      which: fc.uniqueArray(some, { minLength: 1, maxLength: 3 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ does: fc.constant("move" as const), which: some }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("restore" as const), by: fc.integer({ min: 1, max: 5 }) }) },
  { weight: 10, arbitrary: ask },
  { weight: 5, arbitrary: fc.record({ does: fc.constantFrom("arrive" as const, "cut" as const, "settle" as const) }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant("hold" as const), isHeld: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("pass" as const), ms: fc.constantFrom(1, DAY, TEN_YEARS) }) },
);
const script = fc.record({
  maxRemembered: fc.constantFrom(0, 1, 1_000, 1_000),
  begin: fc.array(ask, { minLength: 12, maxLength: 12 }),
  steps: fc.array(step, { minLength: 20, maxLength: 60, size: "max" }),
});

/** What the service has answered at one of its states, by request. */
interface State {
  readonly generation: string;
  readonly offset: number;
  readonly answers: Map<string, string>;
}

const figures = { used: 0, dropped: 0, notModified: 0, restored: 0 };

class Run {
  readonly #ledger = new ScriptedLedger({ offsetsPerTransaction: 1 });
  readonly #ids = new Map(contracts.map(({ contractId }) => [contractId, contractId]));
  #now = Date.parse("2026-06-01T00:00:00Z");
  readonly #client: DocumentedClient;
  readonly #calls = new Map<string, HttpCall>();
  readonly #etags = new Map<string, string>();
  readonly #late: (() => void)[] = [];
  readonly #end = new AbortController();
  #url = "";
  #states: State[] = [];
  #stream = new AbortController();
  #held: ServerSentEvent[] | undefined;
  #renamed = 0;

  constructor(maxRemembered: number) {
    this.#client = new DocumentedClient({ now: () => this.#now, elapsed: () => performance.now() }, maxRemembered);
    this.#ledger.transact(contracts.map((one) => ({ create: { ...one, signatories: [operator] } })));
  }

  async through(steps: readonly Step[]): Promise<void> {
    const participant = await Participant.start({ ledger: this.#ledger, checkpointMs: 20 });
    // Time passes for credentials, and must not make the contracts stale.
    const freshness = { unreadySeconds: 1e9, staleSeconds: 1e9 };
    const ofLedger = { ledgerUrl: new URL(participant.url), ledgerParties: [operator] };
    const app = await startApp({ ...quiet(), ...ofLedger, ...freshness, graceSeconds: 2 }, () => this.#now);
    this.#url = app.url;
    const following = this.#follow();
    try {
      await until("the service is ready", async () => (await fetch(`${app.url}/readyz`)).ok);
      await this.#record();
      await this.#settle();
      for (const one of steps) {
        await this.#take(one);
        for (const { key } of this.#client.kept) this.#check(this.#client.use(key));
      }
      await this.#settle();
    } finally {
      this.#end.abort();
      this.#stream.abort();
      await following;
      await app.close();
      await participant.stop();
    }
  }

  async #follow(): Promise<void> {
    while (!this.#end.signal.aborted) {
      this.#stream = new AbortController();
      this.#client.streamOpened();
      try {
        for await (const event of events(this.#url, this.#client.resumeToken, this.#stream.signal)) {
          if (this.#held === undefined) this.#handle(event);
          else this.#held.push(event);
        }
      } catch {
        // It was cut.
      }
      this.#held &&= [];
      this.#client.streamEnded();
      await new Promise(setImmediate);
    }
  }

  #handle(event: ServerSentEvent): void {
    figures.dropped += this.#client.handle(event).length;
  }

  async #take(one: Step): Promise<void> {
    const ledger = this.#ledger;
    switch (one.does) {
      case "change": {
        const changes = one.which.map((which) => this.#change(which));
        // Those that move are left as they are.
        if (changes.every((change) => change !== undefined)) ledger.transact(changes);
        return this.#record();
      }
      case "move": {
        const id = this.#ids.get(contracts[one.which]?.contractId ?? "") ?? "";
        const contract = ledger.contracts.get(id);
        if (contract === undefined) return;
        if (contract.synchronizerId === undefined) ledger.assign(id);
        else
          ledger.unassign(
            id,
            contract.synchronizerId === OTHER_SYNCHRONIZER ? ledger.synchronizerId : OTHER_SYNCHRONIZER,
          );
        return this.#record();
      }
      case "restore": {
        const { generation } = await this.#position();
        if (ledger.end <= one.by) return;
        ledger.restore(ledger.end - one.by);
        figures.restored++;
        await until("the state is replaced", async () => (await this.#position()).generation !== generation);
        return this.#record();
      }
      case "ask":
        return this.#ask(this.#current(one.call), one.isLate);
      case "arrive":
        return this.#late.shift()?.();
      case "cut":
        return this.#stream.abort();
      case "hold":
        return this.#hold(one.isHeld);
      case "settle":
        return this.#settle();
      case "pass":
        await this.#settle();
        this.#now += one.ms;
        this.#states = [];
        return this.#record();
    }
  }

  #change(which: number) {
    const creation = contracts[which];
    const id = this.#ids.get(creation?.contractId ?? "") ?? "";
    const active = this.#ledger.contracts.get(id);
    if (active !== undefined)
      return active.synchronizerId === this.#ledger.synchronizerId ? { archive: id } : undefined;
    if (creation === undefined) return undefined;
    const renamed = creation.contractId.slice(0, -4) + String(++this.#renamed).padStart(4, "0");
    this.#ids.set(creation.contractId, renamed);
    return { create: { ...creation, contractId: renamed, signatories: [operator] } };
  }

  /** A call that names contracts by their present ids. */
  #current(index: number): HttpCall {
    let text = JSON.stringify({ path: calls[index]?.path, body: calls[index]?.body });
    for (const [first, id] of this.#ids) text = text.replaceAll(first, id);
    return JSON.parse(text) as HttpCall;
  }

  async #ask(call: HttpCall, isLate: boolean): Promise<void> {
    const key = JSON.stringify(call);
    if (!this.#calls.has(key)) {
      this.#calls.set(key, call);
      await this.#answer(this.#states.at(-1), key, call);
    }
    const kept = this.#client.use(key);
    if (kept !== undefined) return this.#check(kept);
    const earlier = this.#client.earlier(key);
    const response = await send(this.#url, call, earlier?.etag);
    if (isNotModified(response.headers)) figures.notModified++;
    const receive = () => this.#noteTag(key, response, this.#client.receive(key, response, earlier));
    if (isLate) this.#late.push(receive);
    else receive();
  }

  /** Equal entity tags have equal bodies, and the other way round. */
  #noteTag(key: string, { headers }: HttpResponse, body: string): void {
    const etag = headers.get("etag");
    if (etag === undefined) return;
    for (const [name, value] of [
      [`${key} ${etag}`, body],
      [`${key} ${body}`, etag],
    ] as const)
      assert.equal(this.#etags.get(name) ?? value, value);
    this.#etags.set(`${key} ${etag}`, body).set(`${key} ${body}`, etag);
  }

  #hold(isHeld: boolean): void {
    const held = this.#held ?? [];
    this.#held = isHeld ? held : undefined;
    if (!isHeld) for (const event of held) this.#handle(event);
  }

  async #position(): Promise<{ readonly generation: string; readonly offset: number }> {
    const { headers } = await send(this.#url, { path: allInstrumentConfigurations });
    return { generation: headers.get("offledger-generation") ?? "", offset: Number(headers.get("offledger-offset")) };
  }

  /** What the service answers now to all that was asked. */
  async #record(): Promise<void> {
    let position = await this.#position();
    const isThere = async () => (position = await this.#position()).offset >= this.#ledger.lastUpdate;
    await until("the service has the update", isThere);
    const state: State = { ...position, answers: new Map() };
    for (const [key, call] of this.#calls) await this.#answer(state, key, call);
    this.#states.push(state);
  }

  async #answer(state: State | undefined, key: string, call: HttpCall): Promise<void> {
    state?.answers.set(key, (await send(this.#url, call)).body);
  }

  /** Right is the answer at the state of the latest event, or at a later one. */
  #check(kept: Kept | undefined): void {
    const { latest } = this.#client;
    if (kept === undefined || latest === undefined) return;
    figures.used++;
    const at = this.#states.findLastIndex(
      ({ generation, offset }) => generation === latest.generation && offset <= latest.offset,
    );
    const right = this.#states.slice(Math.max(0, at)).map(({ answers }) => answers.get(kept.key));
    const where = `${kept.key}, kept at ${kept.offset}, the latest event is at ${latest.offset}`;
    assert.ok(right.includes(kept.body), `${where}: ${kept.body}\nis none of ${right.join("\n")}`);
  }

  /** Everything arrives: then the client's answers are those of the present state. */
  async #settle(): Promise<void> {
    this.#hold(false);
    for (const receive of this.#late.splice(0)) receive();
    const state = this.#states.at(-1);
    const isLatest = () =>
      this.#client.latest?.generation === state?.generation && this.#client.latest?.offset === state?.offset;
    await until("the client has all events", isLatest);
    for (const { key, body } of this.#client.kept)
      if (this.#client.use(key) !== undefined) assert.equal(body, state?.answers.get(key), key);
  }
}

test(`holds over ${SCRIPTS} scripts`, { timeout: 120_000 + SCRIPTS * 15_000 }, async () => {
  console.log(`seed ${SEED}`);
  await fc.assert(
    fc.asyncProperty(script, ({ maxRemembered, begin, steps }) => new Run(maxRemembered).through([...begin, ...steps])),
    { seed: SEED, numRuns: SCRIPTS, endOnFailure: true },
  );
  console.log(JSON.stringify(figures));
  // Otherwise the scripts would show nothing.
  for (const [what, count] of Object.entries(figures)) expect(count, what).toBeGreaterThan(0);
});
