/** A client of HTTP/2 for attackers: it sends within the windows of the server, and may read nothing. */
import type net from "node:net";
import {
  ACK,
  END_HEADERS,
  END_STREAM,
  type Frame,
  frame,
  PREFACE,
  settings,
  Type,
  word,
} from "../../fixtures/http2-frames.js";
import type { Tally } from "./families.js";

const MAX_FRAME_BYTES = 16_384;
const MAX_WINDOW = 2 ** 31 - 1;
const DEFAULT_WINDOW = 65_535;
const HEAD_BYTES = 9;
const INITIAL_WINDOW_SIZE = 4;
export const CANCEL = word(8);

/** PRIORITY changes nothing; it only shows whether the other end still takes bytes. */
const PRIORITY_FRAME = frame(2, 0, 1, Buffer.from([0, 0, 0, 0, 15]));

/** The status of a response whose encoder has no dynamic table. */
function statusOf(block: Buffer): string {
  const indexed: Readonly<Record<number, string>> = { 0x88: "200", 0x89: "204", 0x8b: "304", 0x8c: "400", 0x8d: "404" };
  // Updates of the table's size come first.
  let at = 0;
  while (((block[at] ?? 0) & 0xe0) === 0x20) at++;
  return indexed[block[at] ?? 0] ?? /\d{3}/.exec(block.toString("latin1", at, at + 5))?.[0] ?? "unknown";
}

/** Splits what arrives into frames. */
class FrameReader {
  #rest: Buffer = Buffer.alloc(0);

  *read(chunk: Buffer): Generator<Frame> {
    let bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    while (bytes.length >= HEAD_BYTES) {
      const end = HEAD_BYTES + bytes.readUIntBE(0, 3);
      if (bytes.length < end) break;
      const [type = 0, flags = 0] = bytes.subarray(3, 5);
      const stream = bytes.readUInt32BE(5) & MAX_WINDOW;
      yield { type, flags, stream, payload: bytes.subarray(HEAD_BYTES, end) };
      bytes = bytes.subarray(end);
    }
    this.#rest = bytes;
  }
}

interface RequestBody {
  readonly content: Buffer;
  /** Whether the stream ends after the content. */
  readonly ends: boolean;
}

interface Stream {
  readonly body: RequestBody;
  sent: number;
  window: number;
}

/** Sends the bodies of one connection in turn, within the flow-control windows of the server. */
class BodySender {
  readonly #socket: net.Socket;
  readonly #streams = new Map<number, Stream>();
  /** Streams with content to send. */
  readonly #sending = new Map<number, Stream>();
  #window = DEFAULT_WINDOW;
  #initialWindow = DEFAULT_WINDOW;
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
    const { content, ends } = stream.body;
    const max = Math.max(0, Math.min(MAX_FRAME_BYTES, stream.window, this.#window));
    const part = content.subarray(stream.sent, stream.sent + max);
    if (part.length === 0) return false;
    stream.sent += part.length;
    stream.window -= part.length;
    this.#window -= part.length;
    this.#socket.write(frame(Type.data, 0, id, part));
    if (stream.sent < content.length) return true;
    this.#sending.delete(id);
    if (ends) this.#socket.write(frame(Type.data, END_STREAM, id));
    return true;
  }
}

const REPLENISH_AT = 2 ** 29;

export interface Http2Options {
  /** Flow-control window for each response; unlimited without it. */
  readonly responseWindow?: number;
  /** Called when a response is complete or the server has reset the stream. */
  readonly onStreamEnd?: () => void;
}

export class Http2Connection {
  readonly #socket: net.Socket;
  readonly #tally: Tally;
  readonly #options: Http2Options;
  readonly #bodies: BodySender;
  readonly #open = new Set<number>();
  readonly #reader = new FrameReader();
  #received = 0;
  #nextId = 1;

  constructor(socket: net.Socket, tally: Tally, options: Http2Options = {}) {
    this.#socket = socket;
    this.#tally = tally;
    this.#options = options;
    this.#bodies = new BodySender(socket);
    socket.write(encodeStart(options.responseWindow));
    socket.on("data", (chunk: Buffer) => {
      const { bytesWritten } = socket;
      for (const one of this.#reader.read(chunk)) this.#receive(one);
      // Bytes carry the TCP acknowledgement at once; a server that delays small writes (Nagle) would wait 40 ms for it
      // before it sends its next window update.
      if (this.#bodies.isSending && socket.bytesWritten === bytesWritten) socket.write(PRIORITY_FRAME);
    });
  }

  request(block: Buffer, body?: RequestBody): void {
    if (this.#socket.destroyed) return;
    const id = this.#nextId;
    this.#nextId += 2;
    this.#open.add(id);
    this.#tally.requests++;
    this.#socket.write(frame(Type.headers, END_HEADERS | (body === undefined ? END_STREAM : 0), id, block));
    if (body !== undefined) this.#bodies.add(id, body);
  }

  #receive({ type, flags, stream, payload }: Frame): void {
    const isAck = (flags & ACK) !== 0;
    switch (type) {
      case Type.settings:
        return isAck ? undefined : this.#apply(payload);
      case Type.windowUpdate:
        return this.#bodies.widen(stream, payload.readUInt32BE());
      case Type.ping:
        return isAck ? undefined : this.#write(frame(Type.ping, ACK, 0, payload));
      case Type.goaway:
        return this.#tally.answer(`goaway ${payload.readUInt32BE(4)}`);
      case Type.reset:
        this.#tally.answer(`reset ${payload.readUInt32BE()}`);
        return this.#end(stream, true);
      case Type.headers:
        this.#tally.answer(statusOf(payload));
        break;
      case Type.data:
        this.#replenish(payload.length);
        break;
      default:
        return;
    }
    if ((flags & END_STREAM) !== 0) this.#end(stream, false);
  }

  #apply(given: Buffer): void {
    // Node.js applies the limits of its settings only once the client has acknowledged them.
    this.#write(frame(Type.settings, ACK, 0));
    for (let at = 0; at + 6 <= given.length; at += 6) {
      if (given.readUInt16BE(at) !== INITIAL_WINDOW_SIZE) continue;
      this.#bodies.setInitialWindow(given.readUInt32BE(at + 2));
    }
  }

  #replenish(bytes: number): void {
    this.#received += bytes;
    if (this.#received < REPLENISH_AT) return;
    this.#write(frame(Type.windowUpdate, 0, 0, word(this.#received)));
    this.#received = 0;
  }

  #end(streamId: number, isReset: boolean): void {
    if (!this.#open.delete(streamId)) return;
    const isIncomplete = this.#bodies.remove(streamId);
    if (isIncomplete && !isReset) this.#write(frame(Type.reset, 0, streamId, CANCEL));
    this.#options.onStreamEnd?.();
  }

  #write(bytes: Buffer): void {
    this.#socket.write(bytes);
  }
}

/** Preface and settings, with all the connection-level window there is. Without a table, responses show their status. */
export const encodeStart = (responseWindow = MAX_WINDOW): Buffer =>
  Buffer.concat([
    PREFACE,
    settings({ 1: 0, [INITIAL_WINDOW_SIZE]: responseWindow }),
    frame(Type.windowUpdate, 0, 0, word(MAX_WINDOW - DEFAULT_WINDOW)),
  ]);
