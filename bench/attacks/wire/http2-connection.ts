/** A client connection of raw frames, which obeys the flow control of the server. */
import type net from "node:net";
import type { Tally } from "../attackers/attack.js";
import * as frames from "./http2-frames.js";
import { FLAG, type Frame, TYPE } from "./http2-frames.js";

const ONE_BYTE_FRAMES_PER_WRITE = 1_000;
const REPLENISH_AT = 2 ** 29;

export interface RequestBody {
  readonly content: Buffer;
  readonly oneByteFrames?: boolean;
  /** Whether the stream ends after the content. */
  readonly ends: boolean;
}

interface Stream {
  readonly body: RequestBody | undefined;
  sent: number;
  window: number;
}

export interface Http2Options {
  /** Flow-control window for each response; unlimited without it. */
  readonly responseWindow?: number;
  /** Node.js applies the limits of its settings only once the client has acknowledged them. */
  readonly acknowledgesSettings?: boolean;
  /** Called when a response is complete or the server has reset the stream. */
  readonly onStreamEnd?: () => void;
}

export class Http2Connection {
  readonly #socket: net.Socket;
  readonly #tally: Tally;
  readonly #onStreamEnd: () => void;
  readonly #acknowledgesSettings: boolean;
  readonly #reader = new frames.FrameReader();
  readonly #streams = new Map<number, Stream>();
  /** Streams with content to send. */
  readonly #sending = new Map<number, Stream>();
  #window = frames.DEFAULT_WINDOW;
  #initialWindow = frames.DEFAULT_WINDOW;
  #received = 0;
  #nextId = 1;
  #awaitsDrain = false;

  constructor(
    socket: net.Socket,
    tally: Tally,
    { responseWindow, onStreamEnd, acknowledgesSettings = true }: Http2Options = {},
  ) {
    this.#acknowledgesSettings = acknowledgesSettings;
    this.#socket = socket;
    this.#tally = tally;
    this.#onStreamEnd = onStreamEnd ?? (() => undefined);
    socket.write(encodeStart(responseWindow));
    socket.on("data", (chunk: Buffer) => {
      const { bytesWritten } = socket;
      for (const frame of this.#reader.read(chunk)) this.#receive(frame);
      // Bytes carry the TCP acknowledgement at once; a server that delays small writes (Nagle) would wait 40 ms for it
      // before it sends its next window update.
      if (this.#sending.size > 0 && socket.bytesWritten === bytesWritten) socket.write(frames.PRIORITY_FRAME);
    });
  }

  request(block: Buffer, body?: RequestBody): void {
    if (this.#socket.destroyed) return;
    const id = this.#nextId;
    this.#nextId += 2;
    const stream = { body, sent: 0, window: this.#initialWindow };
    this.#streams.set(id, stream);
    this.#tally.requests++;
    this.#socket.write(frames.encodeHeaders(id, block, body === undefined));
    if (body === undefined) return;
    this.#sending.set(id, stream);
    this.#flush();
  }

  #receive({ type, flags, streamId, payload }: Frame): void {
    if (type === TYPE.settings && (flags & FLAG.ack) === 0) this.#apply(payload);
    else if (type === TYPE.windowUpdate) this.#widen(streamId, payload.readUInt32BE());
    else if (type === TYPE.ping && (flags & FLAG.ack) === 0) {
      this.#socket.write(frames.encodeFrame(TYPE.ping, FLAG.ack, 0, payload));
    } else if (type === TYPE.goaway) this.#tally.answer(`goaway ${payload.readUInt32BE(4)}`);
    else if (type === TYPE.reset) {
      this.#tally.answer(`reset ${payload.readUInt32BE()}`);
      this.#end(streamId, true);
    } else if (type === TYPE.headers || type === TYPE.data) {
      if (type === TYPE.headers) this.#tally.answer(frames.statusOf(payload));
      else this.#replenish(payload.length);
      if ((flags & FLAG.endStream) !== 0) this.#end(streamId, false);
    }
  }

  #apply(settings: Buffer): void {
    for (let at = 0; at + 6 <= settings.length; at += 6) {
      if (settings.readUInt16BE(at) !== frames.SETTING.initialWindowSize) continue;
      const window = settings.readUInt32BE(at + 2);
      for (const stream of this.#streams.values()) stream.window += window - this.#initialWindow;
      this.#initialWindow = window;
    }
    if (this.#acknowledgesSettings) this.#socket.write(frames.encodeFrame(TYPE.settings, FLAG.ack, 0, Buffer.alloc(0)));
    this.#flush();
  }

  #widen(streamId: number, increment: number): void {
    const stream = this.#streams.get(streamId);
    if (streamId === 0) this.#window += increment;
    else if (stream !== undefined) stream.window += increment;
    this.#flush();
  }

  #replenish(bytes: number): void {
    this.#received += bytes;
    if (this.#received < REPLENISH_AT) return;
    this.#socket.write(frames.encodeUint32Frame(TYPE.windowUpdate, 0, this.#received));
    this.#received = 0;
  }

  #end(streamId: number, isReset: boolean): void {
    const stream = this.#streams.get(streamId);
    if (stream === undefined) return;
    this.#streams.delete(streamId);
    const { body } = stream;
    const isIncomplete = body !== undefined && (!body.ends || this.#sending.has(streamId));
    this.#sending.delete(streamId);
    if (isIncomplete && !isReset) {
      this.#socket.write(frames.encodeUint32Frame(TYPE.reset, streamId, frames.CANCEL));
    }
    this.#onStreamEnd();
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
    const { body } = stream;
    if (body === undefined) return false;
    const { content, oneByteFrames = false, ends } = body;
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

/** Preface and settings, with all the connection-level window there is. Without a table, responses show their status. */
export function encodeStart(responseWindow = frames.MAX_WINDOW): Buffer {
  return Buffer.concat([
    frames.PREFACE,
    frames.encodeSettings({
      [frames.SETTING.headerTableSize]: 0,
      [frames.SETTING.initialWindowSize]: responseWindow,
    }),
    frames.encodeUint32Frame(TYPE.windowUpdate, 0, frames.MAX_WINDOW - frames.DEFAULT_WINDOW),
  ]);
}
