/** One stream over a WebSocket, with what goes wrong on it. */
import type { Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { WebSocket } from "ws";
import { type Refusal, whole } from "./errors.js";
import type { Ending, StreamPath, Troubles } from "./troubles.js";

/** The stream is over, and what it was sending is in vain. */
export class Over extends Error {
  constructor() {
    super("the stream is over");
    this.name = "Over";
  }
}

/** More bytes than this are not kept in memory for a slow reader. */
const MOST_BUFFERED = 1 << 20;

export class Stream {
  readonly path: StreamPath;
  readonly token: string | undefined;
  readonly #webSocket: WebSocket;
  readonly #socket: Socket;
  readonly #troubles: Troubles;
  readonly #over = new AbortController();
  #isSilent = false;

  /** `socket` is that of the WebSocket, for what a WebSocket would not do. */
  constructor(path: StreamPath, token: string | undefined, webSocket: WebSocket, socket: Socket, troubles: Troubles) {
    this.path = path;
    this.token = token;
    this.#webSocket = webSocket;
    this.#socket = socket;
    this.#troubles = troubles;
    webSocket.on("close", () => this.#over.abort()).on("error", () => this.#over.abort());
  }

  /** Aborts when the stream is over. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  /** How many updates from before its begin it has to send first. */
  get duplicates(): number {
    return this.#troubles.duplicates ?? 0;
  }

  /** Something more goes wrong from now on, or at once. */
  meet(troubles: Troubles): void {
    Object.assign(this.#troubles, troubles);
    const { ending } = this.#troubles;
    // Who is sending meanwhile finds the stream over.
    if (ending?.after === 0) void this.#end(ending.ending);
  }

  /** To be called before the first message. Throws where the stream is to end before it. */
  async begin(): Promise<void> {
    const { ending } = this.#troubles;
    if (ending?.after === 0) await this.#end(ending.ending);
    this.#check();
  }

  /** Sends a message. Throws where the stream is over, or is so after it. */
  async send(message: object): Promise<void> {
    const { delayMs = 0 } = this.#troubles;
    if (delayMs > 0) await pause(delayMs, undefined, { signal: this.over }).catch(() => {});
    this.#check();
    const { ending, garbled } = this.#troubles;
    const text = JSON.stringify(message);
    const isGarbled = garbled !== undefined && garbled.after-- === 0;
    this.#webSocket.send(isGarbled ? garbled.text(text) : text);
    if (this.#webSocket.bufferedAmount > MOST_BUFFERED) await this.#flushed();
    if (ending !== undefined && --ending.after === 0) {
      await this.#flushed();
      await this.#end(ending.ending);
    }
    this.#check();
  }

  /** Ends in good order; with an error, which then is the last message. */
  finish(refusal?: Refusal, code = 1000): void {
    if (this.over.aborted || this.#isSilent) return;
    if (refusal !== undefined) this.#webSocket.send(JSON.stringify(whole(refusal.error)));
    this.#webSocket.close(code);
    this.#over.abort();
  }

  /** Ends the connection without a word. */
  cut(): void {
    this.#over.abort();
    this.#socket.destroy();
  }

  #check(): void {
    if (this.over.aborted || this.#isSilent) throw new Over();
  }

  async #end(ending: Ending): Promise<void> {
    switch (ending.how) {
      case "cut":
        return this.cut();
      case "reset":
        this.#over.abort();
        this.#socket.resetAndDestroy();
        return;
      case "half frame":
        this.#socket.write(halfFrame);
        await this.#flushed();
        return this.cut();
      case "error":
        return this.finish(ending.refusal);
      case "close":
        return this.finish(undefined, ending.code);
      case "silence":
        this.#isSilent = true;
        if (!ending.answersPings) this.#webSocket.pause();
    }
  }

  /** Waits until all that was sent has left this process. */
  async #flushed(): Promise<void> {
    await new Promise<void>((resolve) => this.#socket.write("", () => resolve()));
  }
}

/** The head of a text frame of 512 bytes, and its first few bytes. */
const halfFrame = Buffer.concat([
  Buffer.from([0x81, 126, 0x02, 0x00]),
  Buffer.from('{"update":{"Transaction":{"value":{"updateId":"1220'),
]);
