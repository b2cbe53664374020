import { WebSocket } from "ws";
import { LedgerError, responseError } from "./errors.js";

/** Messages, and characters of them, that may wait to be used; then the socket pauses until a tenth is left. */
const MOST_MESSAGES = 1_000;
const MOST_CHARACTERS = 16 * 1024 * 1024;

/** The messages of a socket in their order, with a bound on how many wait, and the reason why there are no more. */
export class MessageQueue {
  readonly #socket: WebSocket;
  readonly #messageMs: number;
  readonly #beating: NodeJS.Timeout;
  readonly #waiting: string[] = [];
  #characters = 0;
  /** End the waits for anything to happen. */
  readonly #wakes: (() => void)[] = [];
  #isOpen = false;
  #end: LedgerError | "closed" | undefined;
  #beats = 0;
  /** Pings are numbered: the last that was sent, and the last that was answered. */
  #sent = 0;
  #answered = 0;
  /** Whether anything has come since the last ping. */
  #alive = true;
  /** Since when a message is waited for that has not come. */
  #missingSince: number | undefined;

  /** Pings every `pingMs`, and expects a message every `messageMs` while one is waited for. */
  constructor(socket: WebSocket, pingMs: number, messageMs: number) {
    this.#socket = socket;
    this.#messageMs = messageMs;
    socket.on("open", () => {
      this.#isOpen = true;
      this.#wake();
    });
    socket.on("message", (data: Buffer) => this.#put(data.toString()));
    socket.on("pong", (data: Buffer) => {
      this.#alive = true;
      this.#answered = Number(data.toString());
      this.#wake();
    });
    socket.on("unexpected-response", (_request, response) => {
      response.resume();
      const status = response.statusCode ?? 0;
      this.#stop(responseError(undefined, status));
      socket.terminate();
    });
    socket.on("error", (error) => this.#stop(new LedgerError("lost", `the stream broke: ${error.message}`)));
    socket.on("close", (code) => {
      // 1005: closed in order, without a code.
      this.#stop(
        code === 1000 || code === 1005 ? "closed" : new LedgerError("lost", `the stream was cut (close code ${code})`),
      );
    });
    this.#beating = setInterval(() => this.#beat(), pingMs);
  }

  /** Whether nothing more comes behind what waits. */
  get isOver(): boolean {
    return this.#end !== undefined;
  }

  /** Ends when the server has accepted, and throws LedgerError where it does not. */
  async opened(): Promise<void> {
    while (!this.#isOpen) {
      if (this.#end instanceof LedgerError) throw this.#end;
      if (this.#end !== undefined) throw new LedgerError("lost", "the stream was closed before it was open");
      await this.#change();
    }
  }

  /**
   * Whether the server answers a ping that is sent now, within the time of another
   * two. It cannot be heard while the socket is paused, and is not waited for then.
   */
  async answers(): Promise<boolean> {
    const canHear = () => this.#end === undefined && !this.#socket.isPaused;
    if (!canHear()) return false;
    const number = this.#ping();
    const last = this.#beats + 2;
    while (canHear() && this.#answered < number && this.#beats < last) await this.#change();
    return this.#end === undefined && this.#answered >= number;
  }

  /** Ends when the server has closed in order, and throws LedgerError where it has not. What came before comes first. */
  async *messages(): AsyncGenerator<string> {
    for (;;) {
      const next = this.#waiting.shift();
      if (next !== undefined) {
        this.#characters -= next.length;
        if (this.#socket.isPaused && !this.#isFuller(0.1)) {
          // A ping that was sent before the pause may not be answered yet.
          this.#alive = true;
          this.#socket.resume();
        }
        yield next;
      } else if (this.#end === undefined) {
        this.#missingSince ??= performance.now();
        await this.#change();
      } else if (this.#end === "closed") {
        return;
      } else {
        throw this.#end;
      }
    }
  }

  close(): void {
    clearInterval(this.#beating);
    this.#socket.terminate();
  }

  #put(text: string): void {
    this.#waiting.push(text);
    this.#characters += text.length;
    this.#alive = true;
    this.#missingSince = undefined;
    if (this.#isFuller(1)) this.#socket.pause();
    this.#wake();
  }

  /** Whether more than this share of what may wait does wait. */
  #isFuller(share: number): boolean {
    return this.#waiting.length > MOST_MESSAGES * share || this.#characters > MOST_CHARACTERS * share;
  }

  /** The first reason is the one that counts. */
  #stop(reason: LedgerError | "closed"): void {
    this.#end ??= reason;
    this.#wake();
  }

  #beat(): void {
    this.#beats++;
    this.#wake();
    // Nothing comes behind the server's word that it closes, and it may not do so for long.
    if (this.#socket.readyState === WebSocket.CLOSING) this.#socket.terminate();
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    // While the socket is paused no answer is heard; pings still show whoever is between that it is in use.
    if (!this.#socket.isPaused) {
      const missing = this.#missingSince === undefined ? 0 : performance.now() - this.#missingSince;
      if (!this.#alive || missing > this.#messageMs) {
        const what = this.#alive ? "sent no message" : "answered no ping";
        this.#stop(new LedgerError("lost", `the participant has ${what} on a stream for too long`));
        this.#socket.terminate();
        return;
      }
      this.#alive = false;
    }
    this.#ping();
  }

  /** Sends a ping, and gives its number. */
  #ping(): number {
    this.#socket.ping(String(++this.#sent));
    return this.#sent;
  }

  /** Ends when anything has happened. */
  #change(): Promise<void> {
    return new Promise((resolve) => this.#wakes.push(resolve));
  }

  #wake(): void {
    for (const wake of this.#wakes.splice(0)) wake();
  }
}
