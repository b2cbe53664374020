import { type Gate, gate } from "../fixtures/wait.js";
import type { ServerSentEvent } from "./documented-client.js";

export interface Receiver {
  event(event: ServerSentEvent): void;
  /** The service has ended the stream. */
  ended(): void;
}

/** Only heartbeats repeat, every ten seconds. */
const MAX_REPETITIONS = 1_000;

/** The way of a stream from the service to its client: events may be late, and the client may read slowly. */
export class Connection {
  /** What was wrong with the stream. */
  failure: string | undefined;
  readonly #receiver: Receiver;
  readonly #end = new AbortController();
  #underWay: ServerSentEvent[] = [];
  #isHeld = false;
  /** Shut while the client does not read. */
  #reading: Gate | undefined;
  #isEnded = false;
  #previous = "";
  #repeated = 0;

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
        this.#checkRepetition(next.value);
        if (this.failure !== undefined) return;
        this.#underWay.push(next.value);
        this.#deliver();
      }
    } catch {
      // The service may not answer: its stream ends.
    }
    this.#isEnded = true;
    this.#deliver();
  }

  #checkRepetition({ event, data }: ServerSentEvent): void {
    const text = `${event} ${data}`;
    this.#repeated = text === this.#previous ? this.#repeated + 1 : 0;
    this.#previous = text;
    if (this.#repeated > MAX_REPETITIONS) this.failure = `the stream repeats one event without end: ${text}`;
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
