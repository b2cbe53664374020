/** The two ends of one WebSocket stream in virtual time. Messages arrive in their order, some time after they are sent. */
import type { JsonValue } from "../../../../src/domain/json.js";
import { LedgerError } from "../../../../src/ledger/participant/errors.js";
import type { UpdateStream } from "../../../../src/ledger/participant/client.js";
import { checked, type VirtualParticipant } from "./participant.js";

/** Time between the pings of a client. */
const HEARTBEAT_MS = 10_000;

export class Wire implements UpdateStream {
  readonly #participant: VirtualParticipant;
  /** How long the client waits for a message of a finite stream. */
  readonly #messageMs: number;
  // The server's end.
  isSilent = false;
  isOver = false;
  onOver: () => void = () => undefined;
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
    participant.wires.add(this);
    participant.streamFaults.shift()?.(this);
  }

  get isFinite(): boolean {
    return this.#messageMs < Infinity;
  }

  get hasEnded(): boolean {
    return this.#end !== undefined;
  }

  send(message: JsonValue): void {
    if (this.isSilent || this.isOver) return;
    this.#deliver(() => {
      this.#queue.push(message);
      this.#wake();
    });
  }

  /** The server closes the stream, or it is cut. */
  end(reason: LedgerError | "closed"): void {
    // A silent server does not close either.
    if (this.isOver || (this.isSilent && reason === "closed")) return;
    this.isOver = true;
    this.#participant.wires.delete(this);
    this.onOver();
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
    if (this.isOver) return;
    this.isOver = true;
    this.#participant.wires.delete(this);
    this.onOver();
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
