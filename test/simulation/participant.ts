/** A participant and its connections in virtual time. Answers come from the scripted participant. */
import { type Calls, Calls as ScriptedCalls } from "../scripted-participant/calls.js";
import { Refusal, withNulls } from "../scripted-participant/errors.js";
import type { Sink } from "../scripted-participant/stream-content.js";
import type { ScriptedLedger } from "../scripted-participant/ledger.js";
import type { JsonObject, JsonValue } from "../../src/util/json.js";
import type { UpdateStream } from "../../src/ledger/participant/client.js";
import { LedgerError, messageError, responseError } from "../../src/ledger/participant/errors.js";
import type { Random } from "../ingest/database/random.js";
import type { VirtualClock } from "./clock.js";

/** What may happen to a call. */
export type CallFault =
  /** No answer; the client's time limit ends the wait. */
  | "unanswered"
  | "busy"
  | "cut"
  /** The end of another participant that is behind. */
  | "lowerEnd";

export class VirtualParticipant {
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly ledger: ScriptedLedger;
  readonly packageNames: Set<string>;
  readonly wires = new Set<Wire>();
  readonly callFaults: CallFault[] = [];
  readonly searchFaults: ("unanswered" | "cut")[] = [];
  /** What the next snapshots take longer, in milliseconds. */
  readonly snapshotDelays: number[] = [];
  /** Faults of the next streams. */
  readonly streamFaults: ((wire: Wire) => void)[] = [];
  readonly checkpointMs: number;
  isUp = true;
  /** Grows when connections are cut: by a stop, or by another history. */
  session = 0;
  #maxLatency: number;

  constructor(
    clock: VirtualClock,
    random: Random,
    ledger: ScriptedLedger,
    packageNames: Iterable<string>,
    checkpointMs: number,
  ) {
    this.clock = clock;
    this.random = random;
    this.ledger = ledger;
    this.packageNames = new Set(packageNames);
    this.checkpointMs = checkpointMs;
    this.#maxLatency = random.of([2, 2, 20, 500]);
  }

  get calls(): Calls {
    const { ledger, packageNames, checkpointMs } = this;
    return new ScriptedCalls({ ledger, packageNames, checkpointMs, tokens: undefined }, undefined);
  }

  /** Often none, so that a script takes little time. */
  latency(): number {
    return this.random.below(3) === 0 ? this.random.below(this.#maxLatency) + 1 : 0;
  }

  start(): void {
    this.isUp = true;
  }

  stop(): void {
    this.isUp = false;
    this.cutAll();
  }

  /** Cuts every connection, apart from dead ones, whose clients learn nothing. */
  cutAll(): void {
    this.session++;
    for (const wire of this.wires) wire.end(new LedgerError("lost", "the stream was cut (close code 1006)"));
  }

  /** The way of a request to the participant. Throws what a client would get in place of an answer. */
  async arrive(limitMs: number): Promise<CallFault | undefined> {
    const fault = this.callFaults.shift();
    if (fault === "unanswered") {
      await this.clock.sleep(limitMs);
      throw new LedgerError("lost", "no answer in time");
    }
    await this.clock.sleep(this.latency());
    if (!this.isUp || fault === "cut") throw new LedgerError("lost", "the connection is refused or cut");
    if (fault === "busy") throw new LedgerError("busy", "status 503");
    return fault;
  }

  async call<T>(serve: (calls: Calls, fault: CallFault | undefined) => T): Promise<T> {
    const fault = await this.arrive(10_000);
    const { session } = this;
    const result = refusing(() => serve(this.calls, fault));
    await this.clock.sleep(this.latency());
    // What was sent before a cut may or may not arrive.
    if (session !== this.session && this.random.below(2) === 0) throw new LedgerError("lost", "the answer was cut");
    return result;
  }
}

/** Throws the LedgerError of a refused call. */
function refusing<T>(serve: () => T): T {
  try {
    return serve();
  } catch (error) {
    if (error instanceof Refusal) throw responseError(withNulls(error.error) as JsonObject, error.status);
    throw error;
  }
}

/** The last message of a stream that is refused. */
export function lastMessage(error: unknown): JsonObject {
  if (error instanceof Refusal) return withNulls(error.error) as JsonObject;
  throw error;
}

/** Throws if a message is an error. */
function checked(message: JsonValue): JsonValue {
  const error = messageError(message);
  if (error !== undefined) throw error;
  return message;
}

/** Time between the pings of a client. */
const HEARTBEAT_MS = 10_000;

/** The two ends of one WebSocket stream. Messages arrive in their order, some time after they are sent. */
export class Wire implements UpdateStream, Sink {
  readonly duplicates = 0;
  readonly clock: () => number;
  readonly #participant: VirtualParticipant;
  /** How long the client waits for a message of a finite stream. */
  readonly #messageMs: number;
  // The server's end.
  isSilent = false;
  readonly #over = new AbortController();
  /** The network drops everything, in both directions, and tells nobody. */
  #isDead = false;
  #arrivesAt = 0;
  // The client's end.
  onClosed: () => void = () => undefined;
  readonly #queue: JsonValue[] = [];
  #end: LedgerError | "closed" | undefined;
  #pongs = new Set<(isAnswered: boolean) => void>();
  #wake: () => void = () => undefined;

  constructor(participant: VirtualParticipant, messageMs = Infinity) {
    this.#participant = participant;
    this.#messageMs = messageMs;
    this.clock = () => participant.clock.now;
    participant.wires.add(this);
    participant.streamFaults.shift()?.(this);
  }

  get over(): AbortSignal {
    return this.#over.signal;
  }

  get isOver(): boolean {
    return this.over.aborted;
  }

  get isFinite(): boolean {
    return this.#messageMs < Infinity;
  }

  get hasEnded(): boolean {
    return this.#end !== undefined;
  }

  send(message: object): void {
    if (this.isSilent || this.isOver) return;
    this.#deliver(() => {
      this.#queue.push(message as JsonObject);
      this.#wake();
    });
  }

  /** The server closes the stream, or it is cut. */
  end(reason: LedgerError | "closed"): void {
    // A silent server does not close either.
    if (this.isOver || (this.isSilent && reason === "closed")) return;
    this.#participant.wires.delete(this);
    this.#over.abort();
    this.#deliver(() => this.#finish(reason));
  }

  /** From now on nothing passes. The client notices by its pings. */
  die(): void {
    if (this.#isDead) return;
    this.#isDead = true;
    const ms = HEARTBEAT_MS + this.#participant.random.below(HEARTBEAT_MS);
    this.#participant.clock.after(ms, () => this.#finish(new LedgerError("lost", "no answer to a ping")));
  }

  isResponsive(): Promise<boolean> {
    if (this.#end !== undefined) return Promise.resolve(false);
    return new Promise((resolve) => {
      this.#pongs.add(resolve);
      this.#participant.clock.after(this.#participant.latency(), () => {
        if (this.isOver || this.#isDead) return;
        this.#deliver(() => {
          this.#pongs.delete(resolve);
          resolve(true);
        });
      });
    });
  }

  close(): void {
    this.onClosed();
    this.#queue.length = 0;
    this.#end = new LedgerError("lost", "the stream was closed");
    this.#finish(this.#end);
    this.#participant.wires.delete(this);
    this.#over.abort();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<JsonValue> {
    for (;;) {
      const next = this.#queue.shift();
      if (next !== undefined) yield checked(next);
      else if (this.#end === undefined) await this.#woken();
      else if (this.#end === "closed") return;
      else throw this.#end;
    }
  }

  async #woken(): Promise<void> {
    const { clock } = this.#participant;
    const woken = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    if (!this.isFinite) return woken;
    const end = new AbortController();
    void clock.pause(this.#messageMs, end.signal).then(() => {
      if (!end.signal.aborted) this.#finish(new LedgerError("lost", "no message on a stream"));
    });
    await woken;
    end.abort();
  }

  #deliver(arrive: () => void): void {
    const { clock } = this.#participant;
    if (this.#isDead) return;
    this.#arrivesAt = Math.max(this.#arrivesAt, clock.now + this.#participant.latency());
    clock.after(this.#arrivesAt - clock.now, () => {
      if (!this.#isDead && this.#end === undefined) arrive();
    });
  }

  #finish(reason: LedgerError | "closed"): void {
    this.#end ??= reason;
    for (const resolve of this.#pongs) resolve(false);
    this.#pongs.clear();
    this.#wake();
  }
}
