/** Runs a script: a client answers from its cache whenever docs/caching.md allows it, and must never be wrong. */
import type { Change, StoredContract, CountedOnly } from "../../src/domain/contract.js";
import type { Template } from "../../src/domain/template.js";
import { Decoder } from "../../src/ledger/decode.js";
import type { Call } from "../fixtures/protocols.js";
import { type Gate, gate } from "../fixtures/wait.js";
import type { Ledger } from "../rules/model/ledger.js";
import { type ContractDraft, NOW } from "../rules/model/contract-arbitraries.js";
import { RandomLedger, type Step as LedgerStep } from "../rules/model/random-ledger.js";
import { decode, storeChange, type Subject } from "../rules/model/run-script.js";
import type { Deployment } from "./deployment.js";
import {
  DocumentedClient,
  type Earlier,
  type HttpResponse,
  isNotModified,
  type Kept,
  type ServerSentEvent,
} from "./documented-client.js";
import { EntityTags, History, TaggedAnswers } from "./history.js";
import { type Request, type Script, type Step, toCall } from "./steps.js";

interface Receiver {
  event(event: ServerSentEvent): void;
  /** The service has ended the stream. */
  ended(): void;
}

/** The way of a stream from the service to its client: events may be late, and the client may read slowly. */
class Connection {
  readonly #receiver: Receiver;
  readonly #end = new AbortController();
  #underWay: ServerSentEvent[] = [];
  #isHeld = false;
  /** Shut while the client does not read. */
  #reading: Gate | undefined;
  #isEnded = false;

  constructor(open: (signal: AbortSignal) => AsyncIterator<ServerSentEvent>, receiver: Receiver) {
    this.#receiver = receiver;
    void this.#pump(open(this.#end.signal));
  }

  /** Nothing arrives any more. */
  cut(): void {
    this.#underWay = [];
    this.#end.abort();
    this.read(true);
  }

  hold(isHeld: boolean): void {
    this.#isHeld = isHeld;
    this.#deliver();
  }

  read(isReading: boolean): void {
    if (isReading) {
      this.#reading?.open();
      this.#reading = undefined;
    } else this.#reading ??= gate();
  }

  async #pump(events: AsyncIterator<ServerSentEvent>): Promise<void> {
    try {
      for (;;) {
        await this.#reading?.opened;
        const next = await events.next();
        if (this.#end.signal.aborted) return;
        if (next.done === true) break;
        this.#underWay.push(next.value);
        this.#deliver();
      }
    } catch {
      // The service may not answer: its stream ends.
    }
    this.#isEnded = true;
    this.#deliver();
  }

  #deliver(): void {
    if (this.#isHeld || this.#end.signal.aborted) return;
    for (const event of this.#underWay.splice(0)) this.#receiver.event(event);
    if (this.#isEnded) {
      this.#end.abort();
      this.#receiver.ended();
    }
  }
}

/** A random ledger that is written into a deployment. Records each state. */
class WrittenLedger {
  readonly #ledger = new RandomLedger();
  readonly #deployment: Deployment;
  readonly #history: History;
  readonly #decoder: Decoder;
  #past: { readonly contracts: Ledger; readonly offset: number }[] = [];
  #offset = 10;

  constructor(templates: readonly Template[], deployment: Deployment, history: History) {
    this.#decoder = new Decoder(templates, true);
    this.#deployment = deployment;
    this.#history = history;
  }

  get contracts(): Ledger {
    return this.#ledger.contracts;
  }

  async begin(drafts: readonly ContractDraft[]): Promise<void> {
    for (const draft of drafts) this.#ledger.apply({ does: "create", draft });
    await this.snapshot();
  }

  async update(steps: readonly LedgerStep[]): Promise<void> {
    const happened = steps.flatMap((step) => this.#ledger.apply(step));
    await this.#apply(happened.flatMap((change) => storeChange(this.#decoder, change)));
    await this.#record();
  }

  /** Changes to contracts that nobody knows. */
  async flood(updates: number, count: number): Promise<void> {
    for (let update = 1; update <= updates; update++)
      await this.#apply(Array.from({ length: count }, (_, index) => ({ archived: `flood ${update} ${index}` })));
    await this.#record();
  }

  /** The same contracts as a new generation. */
  async snapshot(): Promise<void> {
    await this.#deployment.writer().replace(this.#decoded(), this.#offset, this.#asOf);
    await this.#record();
  }

  /** Back to an earlier time at a lower offset, from which the ledger takes another way. */
  async restore(which: number): Promise<void> {
    const at = which % this.#past.length;
    const { contracts, offset } = this.#past[at] ?? { contracts: [], offset: this.#offset };
    this.#past = this.#past.slice(0, at + 1);
    this.#ledger.restore(contracts);
    this.#offset = offset;
    await this.snapshot();
  }

  async #apply(changes: readonly Change[]): Promise<void> {
    this.#offset++;
    await this.#deployment.writer().apply(changes, this.#offset, this.#asOf);
  }

  async #record(): Promise<void> {
    this.#past.push({ contracts: this.contracts, offset: this.#offset });
    const generation = await this.#deployment.generation();
    this.#history.record({ generation, offset: this.#offset, asOf: this.#asOf, contracts: this.#decoded() });
  }

  #decoded(): (StoredContract | CountedOnly)[] {
    return this.contracts.flatMap((contract) => decode(this.#decoder, contract) ?? []);
  }

  /** The record time of what happens now, in microseconds. */
  get #asOf(): number {
    return this.#deployment.clocks.now() * 1000;
  }
}

/** What many scripts have done: answers from the cache, those compared with the states, and those dropped by events. */
export interface Figures {
  served: number;
  checked: number;
  dropped: number;
  notModified: number;
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
  readonly #history: History;
  readonly #client: DocumentedClient;
  readonly #ledger: WrittenLedger;
  readonly #calls = new Map<string, { readonly call: Call; readonly request: Request }>();
  readonly #entityTags = new EntityTags();
  readonly #tagged = new TaggedAnswers();
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
    this.#history = new History(registry, deployment.clocks.now, script.countsHoldings);
    this.#ledger = new WrittenLedger(registry.templates, deployment, this.#history);
    this.#client = new DocumentedClient(deployment.clocks, script.maxRemembered);
  }

  /** Throws an Error that says what was wrong. */
  async through(): Promise<void> {
    await this.#ledger.begin(this.#script.first);
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
        await this.#ledger.update(step.changes);
        return this.#tagged.check(this.#deployment, this.#history);
      case "flood":
        await this.#ledger.update(step.first);
        this.#tagged.clear();
        return this.#ledger.flood(step.updates, step.changes);
      case "snapshot":
        this.#tagged.clear();
        return this.#ledger.snapshot();
      case "restore":
        this.#tagged.clear();
        return this.#ledger.restore(step.which);
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
    const { call, request } = this.#known(key);
    const earlier = this.#client.earlier(key);
    const response = await this.#service(replica).respond(call, earlier?.etag);
    if (isNotModified(response.headers)) this.#figures.notModified++;
    this.#tagged.note(key, call, response);
    const late = { key, response, earlier, mayKeep: this.#isCovered(request, response) };
    if (isLate) this.#late.push(late);
    else this.#receive(late);
  }

  #receive({ key, response, earlier, mayKeep }: Late): void {
    const body = this.#client.receive(key, response, earlier, mayKeep);
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
        this.#figures.dropped += this.#client.handle(event).length;
      },
      ended: () => this.#client.streamEnded(),
    });
    connection.hold(this.#isHeld);
    connection.read(this.#isReading);
    this.#connection = connection;
  }

  /** Every answer that the client would give now. */
  async #check(): Promise<void> {
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
}
