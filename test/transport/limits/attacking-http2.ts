/** HTTP/2 of the attackers: frames as bytes (RFC 9113, RFC 7541), and a client of them. */
import type net from "node:net";
import type { Tally } from "./families.js";

const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "latin1");
const MAX_FRAME_BYTES = 16_384;
const MAX_WINDOW = 2 ** 31 - 1;
const DEFAULT_WINDOW = 65_535;
const HEAD_BYTES = 9;

export const TYPE = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
} as const;
const FLAG = { ack: 1, endStream: 1, endHeaders: 4 } as const;
const SETTING = { headerTableSize: 1, initialWindowSize: 4 } as const;
export const CANCEL = 8;

interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly streamId: number;
  readonly payload: Buffer;
}

export function encodeFrame(type: number, flags: number, streamId: number, payload: Buffer): Buffer {
  return Buffer.concat([encodeFrameHead(type, flags, streamId, payload.length), payload]);
}

export function encodeFrameHead(type: number, flags: number, streamId: number, length: number): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUIntBE(length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(streamId, 5);
  return head;
}

function encodeSettings(settings: Readonly<Record<number, number>>): Buffer {
  const entries = Object.entries(settings);
  const payload = Buffer.alloc(entries.length * 6);
  for (const [index, [id, value]] of entries.entries()) {
    payload.writeUInt16BE(Number(id), index * 6);
    payload.writeUInt32BE(value, index * 6 + 2);
  }
  return encodeFrame(TYPE.settings, 0, 0, payload);
}

export function encodeUint32Frame(type: number, streamId: number, value: number): Buffer {
  const payload = Buffer.alloc(4);
  payload.writeUInt32BE(value);
  return encodeFrame(type, 0, streamId, payload);
}

/** Changes nothing; it only shows whether the other end still takes bytes. */
const PRIORITY_FRAME = encodeFrame(TYPE.priority, 0, 1, Buffer.from([0, 0, 0, 0, 15]));

export const encodeHeaders = (streamId: number, block: Buffer, endsStream: boolean): Buffer =>
  encodeFrame(TYPE.headers, FLAG.endHeaders | (endsStream ? FLAG.endStream : 0), streamId, block);

/** A header block without the dynamic table. */
export function encodeRequestBlock(
  method: "GET" | "POST",
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Buffer {
  const METHOD_INDEX = { GET: 0x82, POST: 0x83 } as const;
  const SCHEME_HTTP = 0x86;
  const fields = Object.entries({ ":path": path, ":authority": "localhost", ...headers });
  return Buffer.concat([
    Buffer.from([METHOD_INDEX[method], SCHEME_HTTP]),
    ...fields.flatMap(([name, value]) => [Buffer.from([0]), encodeText(name), encodeText(value)]),
  ]);
}

function encodeText(text: string): Buffer {
  return Buffer.concat([encodeLength(text.length), Buffer.from(text, "latin1")]);
}

/** An integer with a prefix of 7 bits. */
function encodeLength(length: number): Buffer {
  const PREFIX = 127;
  if (length < PREFIX) return Buffer.from([length]);
  const bytes = [PREFIX];
  let rest = length - PREFIX;
  for (; rest >= 128; rest >>= 7) bytes.push((rest & 127) | 128);
  return Buffer.from([...bytes, rest]);
}

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
      const streamId = bytes.readUInt32BE(5) & MAX_WINDOW;
      yield { type, flags, streamId, payload: bytes.subarray(HEAD_BYTES, end) };
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
    this.#socket.cork();
    this.#socket.write(encodeFrameHead(TYPE.data, 0, id, part.length));
    this.#socket.write(part);
    this.#socket.uncork();
    if (stream.sent < content.length) return true;
    this.#sending.delete(id);
    if (ends) this.#socket.write(encodeFrameHead(TYPE.data, FLAG.endStream, id, 0));
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
      for (const frame of this.#reader.read(chunk)) this.#receive(frame);
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
    this.#socket.write(encodeHeaders(id, block, body === undefined));
    if (body !== undefined) this.#bodies.add(id, body);
  }

  #receive({ type, flags, streamId, payload }: Frame): void {
    const isAck = (flags & FLAG.ack) !== 0;
    switch (type) {
      case TYPE.settings:
        return isAck ? undefined : this.#apply(payload);
      case TYPE.windowUpdate:
        return this.#bodies.widen(streamId, payload.readUInt32BE());
      case TYPE.ping:
        return isAck ? undefined : this.#write(encodeFrame(TYPE.ping, FLAG.ack, 0, payload));
      case TYPE.goaway:
        return this.#tally.answer(`goaway ${payload.readUInt32BE(4)}`);
      case TYPE.reset:
        this.#tally.answer(`reset ${payload.readUInt32BE()}`);
        return this.#end(streamId, true);
      case TYPE.headers:
        this.#tally.answer(statusOf(payload));
        break;
      case TYPE.data:
        this.#replenish(payload.length);
        break;
      default:
        return;
    }
    if ((flags & FLAG.endStream) !== 0) this.#end(streamId, false);
  }

  #apply(settings: Buffer): void {
    // Node.js applies the limits of its settings only once the client has acknowledged them.
    this.#write(encodeFrame(TYPE.settings, FLAG.ack, 0, Buffer.alloc(0)));
    for (let at = 0; at + 6 <= settings.length; at += 6) {
      if (settings.readUInt16BE(at) !== SETTING.initialWindowSize) continue;
      this.#bodies.setInitialWindow(settings.readUInt32BE(at + 2));
    }
  }

  #replenish(bytes: number): void {
    this.#received += bytes;
    if (this.#received < REPLENISH_AT) return;
    this.#write(encodeUint32Frame(TYPE.windowUpdate, 0, this.#received));
    this.#received = 0;
  }

  #end(streamId: number, isReset: boolean): void {
    if (!this.#open.delete(streamId)) return;
    const isIncomplete = this.#bodies.remove(streamId);
    if (isIncomplete && !isReset) this.#write(encodeUint32Frame(TYPE.reset, streamId, CANCEL));
    this.#options.onStreamEnd?.();
  }

  #write(bytes: Buffer): void {
    this.#socket.write(bytes);
  }
}

/** Preface and settings, with all the connection-level window there is. Without a table, responses show their status. */
export function encodeStart(responseWindow = MAX_WINDOW): Buffer {
  return Buffer.concat([
    PREFACE,
    encodeSettings({
      [SETTING.headerTableSize]: 0,
      [SETTING.initialWindowSize]: responseWindow,
    }),
    encodeUint32Frame(TYPE.windowUpdate, 0, MAX_WINDOW - DEFAULT_WINDOW),
  ]);
}
