/** One WebSocket stream with its faults. */
import type { Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { WebSocket } from "ws";
import { type Refusal, refusal, withNulls } from "./errors.js";
import type { Ending, StreamPath, StreamFaults } from "./stream-faults.js";

export class Over extends Error {
  constructor() {
    super("the stream is over");
    this.name = "Over";
  }
}

/** Bound of the send buffer for a slow reader. */
const MAX_BUFFERED_BYTES = 1 << 20;

export class Stream {
  readonly path: StreamPath;
  readonly token: string | undefined;
  readonly #webSocket: WebSocket;
  readonly #socket: Socket;
  readonly #faults: StreamFaults;
  readonly #expiresAt: number;
  readonly #over = new AbortController();
  #isSilent = false;

  /**
   * `socket` is the WebSocket's, for faults below the WebSocket protocol. `expiresAt` is when the token ends, in
   * milliseconds since 1970.
   */
  constructor(
    path: StreamPath,
    token: string | undefined,
    webSocket: WebSocket,
    socket: Socket,
    faults: StreamFaults,
    expiresAt: number,
  ) {
    this.#expiresAt = expiresAt;
    this.path = path;
    this.token = token;
    this.#webSocket = webSocket;
    this.#socket = socket;
    this.#faults = faults;
    webSocket.on("close", () => this.#over.abort()).on("error", () => this.#over.abort());
  }

  get over(): AbortSignal {
    return this.#over.signal;
  }

  /** How many updates from before the begin offset to repeat. */
  get duplicates(): number {
    return this.#faults.duplicates ?? 0;
  }

  /** How long no OffsetCheckpoint is sent, in milliseconds. */
  get checkpointsWithheldMs(): number {
    return Math.max(0, Math.ceil((this.#faults.checkpointsFrom ?? 0) - performance.now()));
  }

  /** Adds faults, which may apply at once. */
  meet(faults: StreamFaults): void {
    Object.assign(this.#faults, faults);
    const { ending } = this.#faults;
    // A concurrent send notices that the stream has ended.
    if (ending?.after === 0) void this.#end(ending.ending);
  }

  /** Call before the first message. Throws if a fault ends the stream before it. */
  async begin(): Promise<void> {
    const { ending } = this.#faults;
    if (ending?.after === 0) await this.#end(ending.ending);
    this.#check();
  }

  /** Sends a message. Throws if the stream has ended, or ends after it. */
  async send(message: object): Promise<void> {
    const { delayMs = 0 } = this.#faults;
    if (delayMs > 0) await pause(delayMs, undefined, { signal: this.over }).catch(() => {});
    this.#check();
    // A participant looks at the expiry when it has something to send.
    if (this.#expiresAt <= Date.now()) this.finish(refusal("ACCESS_TOKEN_EXPIRED", "Claims are not valid any more"));
    this.#check();
    const { ending, garbled } = this.#faults;
    const text = JSON.stringify(message);
    const isGarbled = garbled !== undefined && garbled.after-- === 0;
    this.#webSocket.send(isGarbled ? garbled.text(text) : text);
    if (this.#webSocket.bufferedAmount > MAX_BUFFERED_BYTES) await this.#flushed();
    if (ending !== undefined && --ending.after === 0) {
      await this.#flushed();
      await this.#end(ending.ending);
    }
    this.#check();
  }

  /** Closes normally. An error is sent as the last message. */
  finish(error?: Refusal, code = 1000): void {
    if (this.over.aborted || this.#isSilent) return;
    if (error !== undefined) this.#webSocket.send(JSON.stringify(withNulls(error.error)));
    this.#webSocket.close(code);
    this.#over.abort();
  }

  cut(): void {
    this.#over.abort();
    this.#socket.destroy();
  }

  #check(): void {
    if (this.over.aborted || this.#isSilent) throw new Over();
  }

  async #end(ending: Ending): Promise<void> {
    switch (ending.type) {
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

  async #flushed(): Promise<void> {
    await new Promise<void>((resolve) => this.#socket.write("", () => resolve()));
  }
}

/** The header of a text frame of 512 bytes, and its first bytes. */
const halfFrame = Buffer.concat([
  Buffer.from([0x81, 126, 0x02, 0x00]),
  Buffer.from('{"update":{"Transaction":{"value":{"updateId":"1220'),
]);
