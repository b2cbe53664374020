/** Runs a script: a client answers from its cache whenever docs/caching.md allows it, and must never be wrong. */
import type { Change } from "../../src/domain/change.js";
import type { Contract, CountedOnly } from "../../src/domain/contract.js";
import { Decoder } from "../../src/ledger/decode.js";
import type { Call } from "../fixtures/protocols.js";
import type { Ledger } from "../rules/model/ledger.js";
import { NOW } from "../rules/model/names.js";
import { RandomLedger, type Step as LedgerStep } from "../rules/model/random-ledger.js";
import type { Request } from "./requests.js";
import { decode, storeChange, type Subject } from "../rules/model/run-script.js";
import { Connection } from "./connection.js";
import type { Deployment } from "./deployment.js";
import { DocumentedClient, type Earlier, type HttpResponse, type Kept, parseKept } from "./documented-client.js";
import { EntityTags } from "./entity-tags.js";
import { History } from "./history.js";
import type { Script, Step } from "./steps.js";
import { toCall } from "./to-call.js";

/** Answers whose tags are checked against later changes, for each request. */
const MAX_TAGGED = 4;

/** What many scripts have done. */
export class Figures {
  asked = 0;
  readonly statuses: Record<string, number> = {};
  kept = 0;
  notModified = 0;
  /** Answers from the cache. */
  served = 0;
  /** Answers that the cache could have given, each compared with the states. */
  checked = 0;
  /** Answers dropped by `changed`, and those of them that had changed. */
  dropped = 0;
  changed = 0;
  readonly events: Record<string, number> = {};

  /** The share of the dropped answers that had changed. */
  get useful(): number {
    return this.changed / this.dropped;
  }

  toString(): string {
    return JSON.stringify(Object.assign({}, this, { useful: this.useful }));
  }
}

interface Late {
  readonly key: string;
  readonly response: HttpResponse;
  readonly earlier: Earlier | undefined;
  readonly mayKeep: boolean;
}

export class Run {
  readonly #script: Script;
  readonly #deployment: Deployment;
  readonly #figures: Figures;
  readonly #decoder: Decoder;
  readonly #history: History;
  readonly #client: DocumentedClient;
  readonly #ledger = new RandomLedger();
  readonly #calls = new Map<string, { readonly call: Call; readonly request: Request }>();
  readonly #entityTags = new EntityTags();
  /** By request. */
  readonly #tagged = new Map<string, Kept[]>();
  readonly #checks: Promise<void>[] = [];
  #past: { readonly contracts: Ledger; readonly offset: number }[] = [];
  #offset = 10;
  #late: Late[] = [];
  #connection: Connection | undefined;
  #connectedTo = 0;
  #isHeld = false;
  #isReading = true;
  /** The tags that the stream covers. */
  #tags: readonly string[] = [];

  constructor(script: Script, { registry }: Subject, deployment: Deployment, figures: Figures) {
    this.#script = script;
    this.#deployment = deployment;
    this.#figures = figures;
    this.#decoder = new Decoder(registry.templates, true);
    this.#history = new History(registry, deployment.clocks.now, script.countsHoldings);
    this.#client = new DocumentedClient(deployment.clocks, script.maxRemembered);
  }

  /** Throws an Error that says what was wrong. */
  async through(): Promise<void> {
    for (const draft of this.#script.first) this.#ledger.apply({ does: "create", draft });
    await this.#replace(this.#offset);
    await this.#deployment.settle();
    if (this.#script.covers === "tags") await this.#learnTags();
    this.#open(0, false);
    await this.#deployment.pass(0);
    for (const step of this.#script.steps) {
      await this.#do(step);
      await this.#check();
    }
    await this.#settle();
  }

  close(): void {
    this.#connection?.cut();
  }

  async #do(step: Step): Promise<void> {
    switch (step.does) {
      case "update":
        return this.#update(step.changes);
      case "flood":
        await this.#update(step.first);
        return this.#flood(step.updates, step.changes);
      case "snapshot":
        return this.#replace(this.#offset);
      case "restore":
        return this.#restore(step.which);
      case "wait":
        return this.#deployment.pass(step.ms);
      case "wait until":
        return this.#deployment.pass(Math.max(0, NOW + step.ms - this.#deployment.clocks.now()));
      case "ask":
        return this.#ask(this.#remember(step.draft(this.#ledger.contracts)), step.isLate, step.replica);
      case "ask again": {
        const kept = this.#client.kept.map(({ key }) => key);
        const keys = step.which % 2 === 0 && kept.length > 0 ? kept : [...this.#calls.keys()];
        const key = keys[(step.which >> 1) % Math.max(1, keys.length)];
        return key === undefined ? undefined : this.#ask(key, step.isLate, step.replica);
      }
      case "arrive":
        return this.#arrive(step.which);
      case "hold":
        this.#isHeld = step.isHeld;
        return this.#connection?.hold(step.isHeld);
      case "read":
        this.#isReading = step.isReading;
        this.#connection?.read(step.isReading);
        return this.#deployment.pass(0);
      case "cut":
        this.#connection?.cut();
        this.#connection = undefined;
        return step.isNoticed ? this.#client.streamEnded() : undefined;
      case "open":
        this.#open(step.replica, step.resumes);
        return this.#deployment.pass(0);
      case "stale":
        for (const service of this.#deployment.services)
          service.staleReason = step.isStale ? "the ledger is unreachable" : undefined;
        return;
      case "settle":
        return this.#settle();
      case "restart":
        if (this.#connectedTo === step.replica) {
          this.#connection?.cut();
          this.#connection = undefined;
          this.#client.streamEnded();
        }
        return this.#deployment.other?.(step);
      default:
        return this.#deployment.other?.(step);
    }
  }

  async #update(steps: readonly LedgerStep[]): Promise<void> {
    const changes = steps
      .flatMap((step) => this.#ledger.apply(step))
      .flatMap((change) => storeChange(this.#decoder, change));
    await this.#apply(changes);
  }

  async #apply(changes: readonly Change[]): Promise<void> {
    this.#offset++;
    await this.#deployment.writer().apply(changes, this.#offset, this.#asOf);
    await this.#record();
    await this.#checkTags();
  }

  /** Changes to contracts that nobody knows. */
  async #flood(updates: number, count: number): Promise<void> {
    for (let update = 1; update <= updates; update++) {
      const changes = Array.from({ length: count }, (_, index) => ({ archived: `flood ${update} ${index}` }));
      this.#offset++;
      await this.#deployment.writer().apply(changes, this.#offset, this.#asOf);
    }
    await this.#record();
    this.#tagged.clear();
  }

  /** Back to an earlier time at a lower offset, from which the ledger takes another way. */
  async #restore(which: number): Promise<void> {
    const at = which % this.#past.length;
    const { contracts, offset } = this.#past[at] ?? { contracts: [], offset: 10 };
    this.#past = this.#past.slice(0, at + 1);
    this.#ledger.restore(contracts);
    this.#offset = offset;
    await this.#replace(offset);
  }

  async #replace(offset: number): Promise<void> {
    this.#tagged.clear();
    await this.#deployment.writer().replace(this.#contracts(), offset, this.#asOf);
    await this.#record();
  }

  #contracts(): (Contract | CountedOnly)[] {
    return this.#ledger.contracts.flatMap((contract) => decode(this.#decoder, contract) ?? []);
  }

  async #record(): Promise<void> {
    this.#past.push({ contracts: this.#ledger.contracts, offset: this.#offset });
    const generation = await this.#deployment.generation();
    this.#history.record({ generation, offset: this.#offset, asOf: this.#asOf, contracts: this.#contracts() });
  }

  /** The record time of what happens now, in microseconds. */
  get #asOf(): number {
    return this.#deployment.clocks.now() * 1000;
  }

  #remember(request: Request): string {
    const key = JSON.stringify(request);
    if (!this.#calls.has(key)) this.#calls.set(key, { call: toCall(request), request });
    return key;
  }

  /** From the cache if it may, else from a service. */
  async #ask(key: string, isLate: boolean, replica: number): Promise<void> {
    const kept = this.#client.use(key);
    if (kept !== undefined) {
      this.#figures.served++;
      return this.#compare(kept);
    }
    this.#figures.asked++;
    const { call, request } = this.#known(key);
    const earlier = this.#client.earlier(key);
    const response = await this.#service(replica).respond(call, earlier?.etag);
    if (response.status === 304) this.#figures.notModified++;
    this.#figures.statuses[response.status] = (this.#figures.statuses[response.status] ?? 0) + 1;
    this.#noteTags(key, response);
    const late = { key, response, earlier, mayKeep: this.#isCovered(request, response) };
    if (isLate) this.#late.push(late);
    else this.#receive(late);
  }

  #receive({ key, response, earlier, mayKeep }: Late): void {
    const before = this.#client.kept.length;
    const body = this.#client.receive(key, response, earlier, mayKeep);
    if (this.#client.kept.length > before) this.#figures.kept++;
    const etag = response.headers.get("etag");
    if (etag !== undefined) this.#entityTags.note(key, etag, body);
  }

  #arrive(which: number): void {
    const [late] = this.#late.splice(which % Math.max(1, this.#late.length), 1);
    if (late !== undefined) this.#receive(late);
  }

  #service(replica: number) {
    const { services } = this.#deployment;
    const service = services[replica % services.length];
    if (service === undefined) throw new Error("there is no service");
    return service;
  }

  #known(key: string): { readonly call: Call; readonly request: Request } {
    const known = this.#calls.get(key);
    if (known === undefined) throw new Error(`a request was forgotten: ${key}`);
    return known;
  }

  #isCovered(request: Request, { headers }: HttpResponse): boolean {
    const { covers } = this.#script;
    if (covers === "all") return true;
    if (covers !== "tags") return "registrar" in request && covers.includes(request.registrar);
    const tags = headers.get("offledger-tags") ?? "~";
    return !tags.startsWith("~") && tags.split(",").every((tag) => this.#tags.includes(tag));
  }

  /** The stream will cover the tags of these answers. */
  async #learnTags(): Promise<void> {
    const tags = new Set<string>();
    for (const step of this.#script.steps) {
      if (step.does !== "ask") continue;
      const { headers } = await this.#service(0).respond(toCall(step.draft(this.#ledger.contracts)));
      const header = headers.get("offledger-tags") ?? "~";
      if (!header.startsWith("~") && tags.size < 900) for (const tag of header.split(",")) tags.add(tag);
    }
    this.#tags = [...tags];
  }

  #open(replica: number, resumes: boolean): void {
    this.#connection?.cut();
    this.#connectedTo = replica;
    this.#client.streamOpened();
    const { covers } = this.#script;
    const options = {
      registrars: typeof covers === "string" ? [] : covers,
      tags: this.#tags,
      resumeToken: resumes ? this.#client.resumeToken : "",
    };
    const connection = new Connection((signal) => this.#service(replica).watch(options, signal), {
      event: (event) => {
        this.#figures.events[event.event] = (this.#figures.events[event.event] ?? 0) + 1;
        this.#count(this.#client.handle(event), event.event);
      },
      ended: () => this.#client.streamEnded(),
    });
    connection.hold(this.#isHeld);
    connection.read(this.#isReading);
    this.#connection = connection;
  }

  /** Whether the dropped answers had changed at the state that the event names. */
  #count(dropped: readonly Kept[], event: string): void {
    if (event !== "changed" || this.#client.latest === undefined) return;
    const index = this.#history.indexOf(this.#client.latest);
    for (const { key, body } of dropped) {
      const { call } = this.#known(key);
      this.#checks.push(
        this.#history.answer(index, call).then((now) => {
          this.#figures.dropped++;
          if (now !== body) this.#figures.changed++;
        }),
      );
    }
  }

  /** Every answer that the client would give now. */
  async #check(): Promise<void> {
    if (this.#connection?.failure !== undefined) throw new Error(this.#connection.failure);
    await Promise.all(this.#checks.splice(0));
    for (const { key } of this.#client.kept) {
      const kept = this.#client.use(key);
      if (kept !== undefined) await this.#compare(kept);
    }
  }

  /** An answer must be right at the state of the latest event, or a later one. */
  async #compare(kept: Kept): Promise<void> {
    this.#figures.checked++;
    const { latest } = this.#client;
    if (latest === undefined) throw new Error("an answer was used before the first event");
    const index = this.#history.indexOf(latest);
    const { call } = this.#known(kept.key);
    if (await this.#history.hasAnswer(index, call, kept.body)) return;
    throw new Error(
      [
        `a stale answer: kept at ${kept.offset} of ${kept.generation}; the latest event is at ${latest.offset}`,
        kept.key,
        kept.body,
        `now it is ${await this.#history.answer(index, call)}`,
      ].join("\n"),
    );
  }

  /** Everything arrives. Then the client has all events, and its answers are those of the present state. */
  async #settle(): Promise<void> {
    this.#isHeld = false;
    this.#isReading = true;
    for (const service of this.#deployment.services) service.staleReason = undefined;
    this.#connection?.hold(false);
    this.#connection?.read(true);
    await this.#deployment.settle();
    if (this.#connection === undefined || this.#client.latest === undefined) {
      this.#open(0, true);
      await this.#deployment.settle();
    }
    for (const late of this.#late.splice(0)) this.#receive(late);
    await Promise.all(this.#checks.splice(0));
    for (const { key } of this.#client.kept) {
      const kept = this.#client.use(key);
      if (kept === undefined) continue;
      this.#figures.checked++;
      const now = await this.#history.answer(this.#history.latest, this.#known(key).call);
      if (now !== kept.body)
        throw new Error(
          `all events have arrived, and an answer is stale: ${key}\nkept at ${kept.offset}: ${kept.body}\nnow: ${now}`,
        );
    }
  }

  /** To check its tags when something changes. */
  #noteTags(key: string, { status, headers, body }: HttpResponse): void {
    if (status !== 200) return;
    const kept = parseKept(key, body, headers);
    if (kept === undefined) return;
    const all = [...(this.#tagged.get(key) ?? []), kept];
    this.#tagged.set(key, all.slice(-MAX_TAGGED));
  }

  /** An answer whose tags have not changed is the same, until its time is over. */
  async #checkTags(): Promise<void> {
    for (const [key, all] of this.#tagged) {
      const left: Kept[] = [];
      for (const kept of all) {
        const changed = await this.#deployment.changedSince(kept.offset);
        if (changed === undefined || [...changed].some(kept.hasTag)) continue;
        if (this.#deployment.clocks.now() * 1000 >= kept.validUntil) continue;
        left.push(kept);
        const known = this.#calls.get(key);
        if (known === undefined) continue;
        const now = await this.#history.answer(this.#history.latest, known.call);
        if (now !== kept.body)
          throw new Error(`no tag of an answer has changed, but it has: ${key}\nwas ${kept.body}\nnow ${now}`);
      }
      this.#tagged.set(key, left);
    }
  }
}
