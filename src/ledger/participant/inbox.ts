import { WebSocket } from "ws";
import { LedgerError, responseError } from "./errors.js";

/** Messages, and characters of them, that may wait to be used; then the socket pauses until a tenth is left. */
const MOST_MESSAGES = 1_000;
const MOST_CHARACTERS = 16 * 1024 * 1024;

/** The messages of a socket in their order, with a bound on how many wait, and the reason why there are no more. */
export class Inbox {
  readonly #socket: WebSocket;
  readonly #messageMs: number;
  readonly #pings: NodeJS.Timeout;
  readonly #waiting: string[] = [];
  #characters = 0;
  /** Ends the wait of whoever reads; set while somebody does. */
  #wake: () => void = () => undefined;
  #end: LedgerError | "closed" | undefined;
  /** Whether anything has come since the last ping. */
  #alive = true;
  /** Since when a message is waited for that has not come. */
  #missingSince: number | undefined;

  /** Pings every `pingMs`, and expects a message every `messageMs` while one is waited for. */
  constructor(socket: WebSocket, pingMs: number, messageMs: number) {
    this.#socket = socket;
    this.#messageMs = messageMs;
    socket.on("message", (data: Buffer) => this.#put(data.toString()));
    socket.on("pong", () => {
      this.#alive = true;
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
    this.#pings = setInterval(() => this.#ping(), pingMs);
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
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      } else if (this.#end === "closed") {
        return;
      } else {
        throw this.#end;
      }
    }
  }

  close(): void {
    clearInterval(this.#pings);
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

  #ping(): void {
    if (this.#socket.readyState !== WebSocket.OPEN || this.#socket.isPaused) return;
    const missing = this.#missingSince === undefined ? 0 : performance.now() - this.#missingSince;
    if (!this.#alive || missing > this.#messageMs) {
      const what = this.#alive ? "sent no message" : "answered no ping";
      this.#stop(new LedgerError("lost", `the participant has ${what} on a stream for too long`));
      this.#socket.terminate();
      return;
    }
    this.#alive = false;
    this.#socket.ping();
  }
}
