/** A participant in virtual time. Answers come from the scripted participant; connections are modelled here. */
import { type Calls, Calls as ScriptedCalls } from "../../../scripted-participant/calls.js";
import { Refusal, withNulls } from "../../../scripted-participant/errors.js";
import type { ScriptedLedger } from "../../../scripted-participant/ledger.js";
import type { JsonObject, JsonValue } from "../../../../src/domain/json.js";
import { LedgerError, messageError, responseError } from "../../../../src/ledger/participant/errors.js";
import type { Random } from "../../database/random.js";
import type { VirtualClock } from "./clock.js";
import type { Wire } from "./wire.js";

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
export function lastMessage(error: unknown): JsonValue {
  if (error instanceof Refusal) return withNulls(error.error) as JsonObject;
  throw error;
}

/** Throws if a message is an error. */
export function checked(message: JsonValue): JsonValue {
  const error = messageError(message);
  if (error !== undefined) throw error;
  return message;
}
