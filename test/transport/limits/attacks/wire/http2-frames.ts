/** HTTP/2 frames and header blocks as bytes (RFC 9113, RFC 7541). */

export const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "latin1");
export const MAX_FRAME_BYTES = 16_384;
export const MAX_WINDOW = 2 ** 31 - 1;
export const DEFAULT_WINDOW = 65_535;
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
  continuation: 9,
} as const;
export const FLAG = { ack: 1, endStream: 1, endHeaders: 4 } as const;
export const SETTING = { headerTableSize: 1, initialWindowSize: 4 } as const;
export const CANCEL = 8;

export interface Frame {
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
  writeFrameHead(head, 0, type, flags, streamId, length);
  return head;
}

function writeFrameHead(
  buffer: Buffer,
  at: number,
  type: number,
  flags: number,
  streamId: number,
  length: number,
): void {
  buffer.writeUIntBE(length, at, 3);
  buffer[at + 3] = type;
  buffer[at + 4] = flags;
  buffer.writeUInt32BE(streamId, at + 5);
}

/** DATA frames of one byte each. */
export function encodeOneByteFrames(streamId: number, content: Buffer): Buffer {
  const frames = Buffer.allocUnsafe(content.length * (HEAD_BYTES + 1));
  for (let index = 0; index < content.length; index++) {
    const at = index * (HEAD_BYTES + 1);
    writeFrameHead(frames, at, TYPE.data, 0, streamId, 1);
    frames[at + HEAD_BYTES] = content[index] ?? 0;
  }
  return frames;
}

export function encodeSettings(settings: Readonly<Record<number, number>>): Buffer {
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
export const PRIORITY_FRAME = encodeFrame(TYPE.priority, 0, 1, Buffer.from([0, 0, 0, 0, 15]));

/** A block above the maximum frame size continues in further frames. */
export function encodeHeaders(streamId: number, block: Buffer, endsStream: boolean): Buffer {
  const frames: Buffer[] = [];
  for (let at = 0; at === 0 || at < block.length; at += MAX_FRAME_BYTES) {
    const part = block.subarray(at, at + MAX_FRAME_BYTES);
    const endHeaders = at + MAX_FRAME_BYTES >= block.length ? FLAG.endHeaders : 0;
    const endStream = at === 0 && endsStream ? FLAG.endStream : 0;
    frames.push(encodeFrame(at === 0 ? TYPE.headers : TYPE.continuation, endHeaders | endStream, streamId, part));
  }
  return Buffer.concat(frames);
}

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

/** Adds a cookie to the dynamic table; the latest entry is then `LATEST_ENTRY`. */
export const encodeIndexedCookie = (value: string): Buffer => Buffer.concat([Buffer.from([0x60]), encodeText(value)]);
export const LATEST_ENTRY = 0xbe;

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
export function statusOf(block: Buffer): string {
  const indexed: Readonly<Record<number, string>> = { 0x88: "200", 0x89: "204", 0x8b: "304", 0x8c: "400", 0x8d: "404" };
  // Updates of the table's size come first.
  let at = 0;
  while (((block[at] ?? 0) & 0xe0) === 0x20) at++;
  return indexed[block[at] ?? 0] ?? /\d{3}/.exec(block.toString("latin1", at, at + 5))?.[0] ?? "unknown";
}

/** Splits what arrives into frames. */
export class FrameReader {
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
