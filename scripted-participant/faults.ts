/** What is to go wrong, and when. */
import { type ErrorCode, type Refusal, refusal } from "./errors.js";
import { copied, type Ending, type StreamPath, type Troubles } from "./troubles.js";

/** Which streams a fault meets, and how often. */
export interface When {
  /** After so many further messages; 0 where not said, which is before the first, or at once. */
  readonly after?: number;
  /** Streams of one path alone. */
  readonly path?: StreamPath;
  /** "open": those that are open now. "next", where not said: the next that is opened, or as many as `times` says. */
  readonly streams?: "next" | "open";
  /** How many streams, one after the other, it meets; 1 where not said. */
  readonly times?: number;
}

/** Which calls are refused, and how often. */
export interface Calls {
  readonly times?: number;
  readonly over?: "http" | "websocket";
  readonly path?: string;
}

/** How a call is refused: with an error, with the page of a proxy in between, or with nothing at all. */
export type Refused = { readonly refusal: Refusal } | { readonly page: number } | "hang up";

/** A stream that faults may be given to while it is open. */
interface Target {
  readonly path: StreamPath;
  meet(troubles: Troubles): void;
}

interface Counted<T> {
  readonly path: string | undefined;
  readonly value: T;
  left: number;
}

export class Faults {
  readonly #queue: Counted<Troubles>[] = [];
  readonly #refused: (Counted<Refused> & { readonly over: Calls["over"] })[] = [];
  readonly #slow: Counted<number>[] = [];
  readonly #open: () => Iterable<Target>;

  constructor(open: () => Iterable<Target>) {
    this.#open = open;
  }

  /** The connection ends without a word: closed, or with a reset. */
  cut({ reset = false, ...when }: When & { readonly reset?: boolean } = {}): void {
    this.#end({ how: reset ? "reset" : "cut" }, when);
  }

  /** An error comes as a message, then a regular close. */
  error(error: ErrorCode | Refusal, when: When = {}): void {
    this.#end({ how: "error", refusal: refused(error) }, when);
  }

  /** The server closes with a code, 1001 where not said. */
  close({ code = 1001, ...when }: When & { readonly code?: number } = {}): void {
    this.#end({ how: "close", code }, when);
  }

  /** The first bytes of a frame come, then the connection ends. */
  halfFrame(when: When = {}): void {
    this.#end({ how: "half frame" }, when);
  }

  /** The stream stays open, and nothing more comes; pings go unanswered where so said. */
  silence({ answersPings = true, ...when }: When & { readonly answersPings?: boolean } = {}): void {
    this.#end({ how: "silence", answersPings }, when);
  }

  /** One message, the first after so many, comes as another text; the stream goes on. */
  garble(text: (message: string) => string, { after = 0, ...when }: When = {}): void {
    this.#give(() => ({ garbled: { after, text } }), when);
  }

  /** One message comes as its first half, in a whole frame; the stream goes on. */
  halfJson(when: When = {}): void {
    this.garble((message) => message.slice(0, message.length / 2), when);
  }

  /** Every message waits so long. */
  delay(delayMs: number, when: Omit<When, "after"> = {}): void {
    this.#give(() => ({ delayMs }), when);
  }

  /** The next stream of updates begins with the last so many from before its begin, once more. */
  duplicate(updates: number, { times = 1 }: { readonly times?: number } = {}): void {
    this.#queue.push({ path: "/v2/updates", value: { duplicates: updates }, left: times });
  }

  /** The next calls, opening a WebSocket included, are refused with an error: 503 is SERVER_IS_SHUTTING_DOWN, 429 PARTICIPANT_BACKPRESSURE. */
  refuse(error: ErrorCode | Refusal | 503 | 429, calls: Calls = {}): void {
    const code = error === 503 ? "SERVER_IS_SHUTTING_DOWN" : error === 429 ? "PARTICIPANT_BACKPRESSURE" : error;
    this.#refuse({ refusal: refused(code) }, calls);
  }

  /** The next calls get an HTML page, as from a proxy whose participant is gone; 502 where not said. */
  proxyError({ status = 502, ...calls }: Calls & { readonly status?: number } = {}): void {
    this.#refuse({ page: status }, calls);
  }

  /** The connections of the next calls end without an answer. To have none accepted at all, stop the participant. */
  hangUp(calls: Calls = {}): void {
    this.#refuse("hang up", calls);
  }

  /** The next answers to ledger-end wait so long. */
  slowLedgerEnd(ms: number, { times = 1 }: { readonly times?: number } = {}): void {
    this.#slow.push({ path: undefined, value: ms, left: times });
  }

  /** Takes back all that has not happened yet; streams keep what they have met. */
  clear(): void {
    for (const list of [this.#queue, this.#refused, this.#slow]) list.length = 0;
  }

  /** For the server: what a stream that opens now has to meet, one fault of each sort. */
  take(path: StreamPath): Troubles {
    const troubles: Troubles = {};
    const isNew = ({ value }: Counted<Troubles>) => !Object.keys(value).some((sort) => sort in troubles);
    const met = this.#queue.filter((fault) => {
      const isMet = (fault.path ?? path) === path && isNew(fault);
      if (isMet) Object.assign(troubles, copied(fault.value));
      return isMet;
    });
    for (const fault of met) spend(this.#queue, fault);
    return troubles;
  }

  /** For the server: how a call is refused, if it is. */
  takeRefusal(over: "http" | "websocket", path: string): Refused | undefined {
    const fault = this.#refused.find((one) => (one.over ?? over) === over && (one.path ?? path) === path);
    if (fault !== undefined) spend(this.#refused, fault);
    return fault?.value;
  }

  /** For the server: how long ledger-end has to wait. */
  takeLedgerEndMs(): number {
    const [fault] = this.#slow;
    if (fault !== undefined) spend(this.#slow, fault);
    return fault?.value ?? 0;
  }

  #end(ending: Ending, { after = 0, ...when }: When): void {
    this.#give(() => ({ ending: { after, ending } }), when);
  }

  #give(troubles: () => Troubles, { path, streams = "next", times = 1 }: When): void {
    if (streams === "next") {
      this.#queue.push({ path, value: troubles(), left: times });
      return;
    }
    const open = [...this.#open()].filter((stream) => path === undefined || stream.path === path);
    if (open.length === 0) throw new Error("no such stream is open");
    for (const stream of open) stream.meet(troubles());
  }

  #refuse(value: Refused, { times = 1, over, path }: Calls): void {
    this.#refused.push({ value, path, over, left: times });
  }
}

function refused(error: ErrorCode | Refusal): Refusal {
  return typeof error === "string" ? refusal(error, "The test has asked for this error.") : error;
}

function spend<T>(list: Counted<T>[], fault: Counted<T>): void {
  fault.left--;
  if (fault.left <= 0) list.splice(list.indexOf(fault), 1);
}
