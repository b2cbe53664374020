import { WebSocket } from "ws";
import { connectionError, LedgerError, responseError } from "./errors.js";

/** Bounds of the queue. When one is reached, the socket pauses until a tenth is left. */
const MAX_MESSAGES = 1_000;
const MAX_CHARACTERS = 16 * 1024 * 1024;
const RESUME_FRACTION = 0.1;

/** Close code that ws reports for a close frame without a code. RFC 6455 section 7.4.1. */
const NO_STATUS = 1005;

/** A bounded queue of the messages of a WebSocket. A heartbeat of pings detects a dead connection. */
export class MessageQueue {
  readonly #socket: WebSocket;
  readonly #messageMs: number;
  readonly #heartbeat: NodeJS.Timeout;
  readonly #queue: string[] = [];
  #characters = 0;
  readonly #listeners: (() => void)[] = [];
  #isOpen = false;
  #end: LedgerError | "closed" | undefined;
  #heartbeats = 0;
  #lastPing = 0;
  #lastPong = 0;
  /** Whether anything has arrived since the last ping. */
  #isAlive = true;
  /** Since when the consumer waits for a message; undefined if it does not. */
  #waitingSince: number | undefined;

  /** Pings every `pingMs`. Fails when the consumer has waited for a message longer than `messageMs`. */
  constructor(socket: WebSocket, pingMs: number, messageMs: number) {
    this.#socket = socket;
    this.#messageMs = messageMs;
    socket.on("open", () => {
      this.#isOpen = true;
      this.#notify();
    });
    socket.on("message", (data: Buffer) => this.#enqueue(data.toString()));
    socket.on("pong", (data: Buffer) => {
      this.#isAlive = true;
      this.#lastPong = Number(data.toString());
      this.#notify();
    });
    socket.on("unexpected-response", (_request, response) => {
      response.resume();
      this.#finish(responseError(undefined, response.statusCode ?? 0, socket.url));
      socket.terminate();
    });
    socket.on("error", (error) => this.#finish(connectionError(error, "the stream failed")));
    socket.on("close", (code) => {
      const isNormal = code === 1000 || code === NO_STATUS;
      this.#finish(isNormal ? "closed" : new LedgerError("lost", `the stream was cut (close code ${code})`));
    });
    this.#heartbeat = setInterval(() => this.#beat(), pingMs);
  }

  get hasEnded(): boolean {
    return this.#end !== undefined;
  }

  /** Resolves when the server has accepted the stream. Throws LedgerError if it does not. */
  async opened(): Promise<void> {
    while (!this.#isOpen) {
      if (this.#end instanceof LedgerError) throw this.#end;
      if (this.#end !== undefined) throw new LedgerError("lost", "the stream was closed before it was open");
      await this.#nextEvent();
    }
  }

  /** Whether a ping is answered within two heartbeats. False at once if the stream has ended or is paused. */
  async isResponsive(): Promise<boolean> {
    const canRead = () => this.#end === undefined && !this.#socket.isPaused;
    if (!canRead()) return false;
    const ping = this.#ping();
    const deadline = this.#heartbeats + 2;
    while (canRead() && this.#lastPong < ping && this.#heartbeats < deadline) await this.#nextEvent();
    return this.#end === undefined && this.#lastPong >= ping;
  }

  /** Yields queued messages first. Then ends if the server closed normally, and throws LedgerError if not. */
  async *messages(): AsyncGenerator<string> {
    for (;;) {
      const next = this.#queue.shift();
      if (next !== undefined) {
        this.#characters -= next.length;
        if (this.#socket.isPaused && !this.#isFuller(RESUME_FRACTION)) {
          // The pong of a ping sent before the pause may still be unread.
          this.#isAlive = true;
          this.#socket.resume();
        }
        yield next;
      } else if (this.#end === undefined) {
        this.#waitingSince ??= performance.now();
        await this.#nextEvent();
      } else if (this.#end === "closed") {
        return;
      } else {
        throw this.#end;
      }
    }
  }

  close(): void {
    clearInterval(this.#heartbeat);
    this.#socket.terminate();
  }

  #enqueue(text: string): void {
    this.#queue.push(text);
    this.#characters += text.length;
    this.#isAlive = true;
    this.#waitingSince = undefined;
    if (this.#isFuller(1)) this.#socket.pause();
    this.#notify();
  }

  #isFuller(fraction: number): boolean {
    return this.#queue.length > MAX_MESSAGES * fraction || this.#characters > MAX_CHARACTERS * fraction;
  }

  #finish(reason: LedgerError | "closed"): void {
    this.#end ??= reason;
    this.#notify();
  }

  #beat(): void {
    this.#heartbeats++;
    this.#notify();
    // Nothing follows the server's close frame. Do not wait longer for the connection to end.
    if (this.#socket.readyState === WebSocket.CLOSING) this.#socket.terminate();
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    // No pong can be read while the socket is paused. Pings still keep proxies from closing the connection.
    if (!this.#socket.isPaused) {
      const waited = this.#waitingSince === undefined ? 0 : performance.now() - this.#waitingSince;
      if (!this.#isAlive || waited > this.#messageMs) {
        const missing = this.#isAlive ? "message" : "answer to a ping";
        this.#finish(new LedgerError("lost", `timeout: no ${missing} on a stream of the participant`));
        this.#socket.terminate();
        return;
      }
      this.#isAlive = false;
    }
    this.#ping();
  }

  #ping(): number {
    this.#socket.ping(String(++this.#lastPing));
    return this.#lastPing;
  }

  #nextEvent(): Promise<void> {
    return new Promise((resolve) => this.#listeners.push(resolve));
  }

  #notify(): void {
    for (const resolve of this.#listeners.splice(0)) resolve();
  }
}
