/** Injects faults into streams and calls. */
import { type ErrorCode, type Refusal, refusal } from "./errors.js";

export type StreamPath = "/v2/state/active-contracts" | "/v2/updates";

export type Ending =
  | { readonly type: "cut" | "reset" | "half frame" }
  | { readonly type: "silence"; readonly answersPings: boolean }
  | { readonly type: "error"; readonly refusal: Refusal }
  | { readonly type: "close"; readonly code: number };

/** The faults of one stream. Counts of messages begin when the fault is set. */
export interface StreamFaults {
  delayMs?: number;
  /** How many updates from before its begin offset it repeats. */
  duplicates?: number;
  ending?: { after: number; readonly ending: Ending };
  /** Half of one message. */
  halved?: { after: number };
}

/** Which streams a fault applies to, and how often. */
export interface When {
  /** Number of messages before the fault. Default 0: before the first message, or at once on an open stream. */
  readonly after?: number;
  readonly path?: StreamPath;
  /** "open": the streams that are open now. "next" (default): the next `times` streams to open. */
  readonly streams?: "next" | "open";
  /** How many of the next streams. Default 1. */
  readonly times?: number;
}

/** Which calls are rejected. `times` defaults to 1. */
export interface Calls {
  readonly times?: number;
  readonly over?: "http" | "websocket";
  readonly path?: string;
}

/** How a call is rejected: an API error, the error page of a proxy, a closed connection, or silence on an open one. */
export type Refused = { readonly refusal: Refusal } | { readonly page: number } | "hang up" | "no answer";

interface Target {
  readonly path: StreamPath;
  meet(faults: StreamFaults): void;
}

interface Counted<T> {
  readonly path: string | undefined;
  readonly value: T;
  left: number;
}

export class Faults {
  readonly #queue: Counted<StreamFaults>[] = [];
  readonly #refused: (Counted<Refused> & { readonly over: Calls["over"] })[] = [];
  readonly #slow: Counted<number>[] = [];
  readonly #open: () => Iterable<Target>;

  constructor(open: () => Iterable<Target>) {
    this.#open = open;
  }

  /** Cuts the connection without a close frame, by FIN or RST. */
  cut({ reset = false, ...when }: When & { readonly reset?: boolean } = {}): void {
    this.#end({ type: reset ? "reset" : "cut" }, when);
  }

  /** Sends an error message, then closes normally. */
  error(error: ErrorCode | Refusal, when: When = {}): void {
    this.#end({ type: "error", refusal: refused(error) }, when);
  }

  /** Closes with code 1001. */
  close(when: When = {}): void {
    this.#end({ type: "close", code: 1001 }, when);
  }

  /** Sends the first bytes of a frame, then cuts the connection. */
  halfFrame(when: When = {}): void {
    this.#end({ type: "half frame" }, when);
  }

  /** Keeps the stream open but sends no more messages and, with `answersPings: false`, no pongs. */
  silence({ answersPings = true, ...when }: When & { readonly answersPings?: boolean } = {}): void {
    this.#end({ type: "silence", answersPings }, when);
  }

  /** Sends the first half of one message, in a complete frame. The stream continues. */
  halfJson({ after = 0, ...when }: When = {}): void {
    this.#give({ halved: { after } }, when);
  }

  delay(delayMs: number, when: Omit<When, "after"> = {}): void {
    this.#give({ delayMs }, when);
  }

  /** The next stream of updates first repeats that many updates from before its begin offset. */
  duplicate(updates: number): void {
    this.#give({ duplicates: updates }, { path: "/v2/updates" });
  }

  /** Rejects the next calls, WebSocket upgrades included. 503 is SERVER_IS_SHUTTING_DOWN, 429 PARTICIPANT_BACKPRESSURE. */
  refuse(error: ErrorCode | Refusal | 503 | 429, calls: Calls = {}): void {
    const code = error === 503 ? "SERVER_IS_SHUTTING_DOWN" : error;
    // Canton 3.5 answers 409. Earlier releases answered 429.
    this.#refuse({ refusal: code === 429 ? refused("PARTICIPANT_BACKPRESSURE", code) : refused(code) }, calls);
  }

  /** Answers the next calls with the HTML error page of a proxy; default status 502. */
  proxyError({ status = 502, ...calls }: Calls & { readonly status?: number } = {}): void {
    this.#refuse({ page: status }, calls);
  }

  /** Closes the connections of the next calls without a response. To refuse connections, stop the participant. */
  hangUp(calls: Calls = {}): void {
    this.#refuse("hang up", calls);
  }

  /** Never answers the next calls, and leaves their connections open and idle until the participant ends. */
  leaveUnanswered(calls: Calls = {}): void {
    this.#refuse("no answer", calls);
  }

  /** The next answers of ledger-end come late, with the end at the time of the request. */
  slowLedgerEnd(ms: number, { times = 1 }: { readonly times?: number } = {}): void {
    this.#slow.push({ path: undefined, value: ms, left: times });
  }

  /** Removes pending faults. Streams keep those that they have taken. */
  clear(): void {
    for (const list of [this.#queue, this.#refused, this.#slow]) list.length = 0;
  }

  /** For the server: takes the faults of a stream that opens now, one of each type. */
  take(path: StreamPath): StreamFaults {
    const faults: StreamFaults = {};
    const isNew = ({ value }: Counted<StreamFaults>) => !Object.keys(value).some((sort) => sort in faults);
    const met = this.#queue.filter((fault) => {
      const isMet = (fault.path ?? path) === path && isNew(fault);
      if (isMet) Object.assign(faults, withOwnCounts(fault.value));
      return isMet;
    });
    for (const fault of met) spend(this.#queue, fault);
    return faults;
  }

  takeRefusal(over: "http" | "websocket", path: string): Refused | undefined {
    const fault = this.#refused.find((one) => (one.over ?? over) === over && (one.path ?? path) === path);
    if (fault !== undefined) spend(this.#refused, fault);
    return fault?.value;
  }

  takeLedgerEndMs(): number {
    const [fault] = this.#slow;
    if (fault !== undefined) spend(this.#slow, fault);
    return fault?.value ?? 0;
  }

  #end(ending: Ending, { after = 0, ...when }: When): void {
    this.#give({ ending: { after, ending } }, when);
  }

  #give(faults: StreamFaults, { path, streams = "next", times = 1 }: When): void {
    if (streams === "next") {
      this.#queue.push({ path, value: faults, left: times });
      return;
    }
    const open = [...this.#open()].filter((stream) => path === undefined || stream.path === path);
    if (open.length === 0) throw new Error("no matching stream is open");
    for (const stream of open) stream.meet(withOwnCounts(faults));
  }

  #refuse(value: Refused, { times = 1, over, path }: Calls): void {
    this.#refused.push({ value, path, over, left: times });
  }
}

/** A copy with separate counts, since each stream counts its own messages. */
const withOwnCounts = ({ ending, halved, ...others }: StreamFaults): StreamFaults => ({
  ...others,
  ...(ending && { ending: { ...ending } }),
  ...(halved && { halved: { ...halved } }),
});

function refused(error: ErrorCode | Refusal, status?: number): Refusal {
  if (typeof error !== "string") return error;
  return refusal(error, "Injected by the test.", status === undefined ? {} : { status });
}

function spend<T>(list: Counted<T>[], fault: Counted<T>): void {
  fault.left--;
  if (fault.left <= 0) list.splice(list.indexOf(fault), 1);
}
