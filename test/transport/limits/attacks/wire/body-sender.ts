/** Sends the bodies of one HTTP/2 connection in turn, within the flow-control windows of the server. */
import type net from "node:net";
import * as frames from "./http2-frames.js";
import { FLAG, TYPE } from "./http2-frames.js";

const ONE_BYTE_FRAMES_PER_WRITE = 1_000;

export interface RequestBody {
  readonly content: Buffer;
  readonly oneByteFrames?: boolean;
  /** Whether the stream ends after the content. */
  readonly ends: boolean;
}

interface Stream {
  readonly body: RequestBody;
  sent: number;
  window: number;
}

export class BodySender {
  readonly #socket: net.Socket;
  readonly #streams = new Map<number, Stream>();
  /** Streams with content to send. */
  readonly #sending = new Map<number, Stream>();
  #window = frames.DEFAULT_WINDOW;
  #initialWindow = frames.DEFAULT_WINDOW;
  #awaitsDrain = false;

  constructor(socket: net.Socket) {
    this.#socket = socket;
  }

  get isSending(): boolean {
    return this.#sending.size > 0;
  }

  add(id: number, body: RequestBody): void {
    const stream = { body, sent: 0, window: this.#initialWindow };
    this.#streams.set(id, stream);
    this.#sending.set(id, stream);
    this.#flush();
  }

  /** Forgets a stream. Returns whether the server still expects a part of its body. */
  remove(id: number): boolean {
    const stream = this.#streams.get(id);
    this.#streams.delete(id);
    const hasContent = this.#sending.delete(id);
    return hasContent || stream?.body.ends === false;
  }

  /** Widens the window of a stream; of the connection for stream 0. */
  widen(id: number, increment: number): void {
    const stream = this.#streams.get(id);
    if (id === 0) this.#window += increment;
    else if (stream !== undefined) stream.window += increment;
    this.#flush();
  }

  setInitialWindow(window: number): void {
    for (const stream of this.#streams.values()) stream.window += window - this.#initialWindow;
    this.#initialWindow = window;
    this.#flush();
  }

  #flush(): void {
    for (let progresses = true; progresses;) {
      progresses = false;
      for (const [id, stream] of this.#sending) {
        if (this.#socket.destroyed) return;
        if (this.#socket.writableNeedDrain) return this.#flushOnDrain();
        if (this.#send(id, stream)) progresses = true;
      }
    }
  }

  #flushOnDrain(): void {
    if (this.#awaitsDrain) return;
    this.#awaitsDrain = true;
    this.#socket.once("drain", () => {
      this.#awaitsDrain = false;
      this.#flush();
    });
  }

  /** Sends as much of a stream as one write takes; false where the windows are used up. */
  #send(id: number, stream: Stream): boolean {
    const { content, oneByteFrames = false, ends } = stream.body;
    const max = oneByteFrames ? ONE_BYTE_FRAMES_PER_WRITE : frames.MAX_FRAME_BYTES;
    const part = content.subarray(stream.sent, stream.sent + Math.max(0, Math.min(max, stream.window, this.#window)));
    if (part.length === 0) return false;
    stream.sent += part.length;
    stream.window -= part.length;
    this.#window -= part.length;
    if (oneByteFrames) this.#socket.write(frames.encodeOneByteFrames(id, part));
    else {
      this.#socket.cork();
      this.#socket.write(frames.encodeFrameHead(TYPE.data, 0, id, part.length));
      this.#socket.write(part);
      this.#socket.uncork();
    }
    if (stream.sent < content.length) return true;
    this.#sending.delete(id);
    if (ends) this.#socket.write(frames.encodeFrameHead(TYPE.data, FLAG.endStream, id, 0));
    return true;
  }
}
