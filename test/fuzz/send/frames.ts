/** HTTP/2 frames (RFC 9113), and headers as HPACK literals without indexing (RFC 7541). */

export const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

export const type = {
  DATA: 0,
  HEADERS: 1,
  PRIORITY: 2,
  RST_STREAM: 3,
  SETTINGS: 4,
  PUSH_PROMISE: 5,
  PING: 6,
  GOAWAY: 7,
  WINDOW_UPDATE: 8,
  CONTINUATION: 9,
} as const;

export const flag = { END_STREAM: 1, ACK: 1, END_HEADERS: 4, PADDED: 8, PRIORITY: 0x20 } as const;

export interface Frame {
  readonly type: number;
  readonly flags?: number;
  readonly stream?: number;
  readonly payload?: Buffer;
  readonly length?: number;
}

export function encodeFrame({
  type: frameType,
  flags = 0,
  stream = 0,
  payload = Buffer.alloc(0),
  length = payload.length,
}: Frame): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(length & 0xffffff, 0, 3);
  head[3] = frameType;
  head[4] = flags;
  head.writeUInt32BE(stream >>> 0, 5);
  return Buffer.concat([head, payload]);
}

export function readFrameHeader(
  bytes: Buffer,
  at: number,
): { length: number; type: number | undefined; stream: number } {
  return { length: bytes.readUIntBE(at, 3), type: bytes[at + 3], stream: bytes.readUInt32BE(at + 5) & 0x7fffffff };
}

export function encodeHeaders(headers: readonly (readonly [name: string, value: string])[]): Buffer {
  return Buffer.concat(
    headers.flatMap(([name, value]) => [Buffer.from([0]), encodeLiteral(name), encodeLiteral(value)]),
  );
}

function encodeLiteral(text: string): Buffer {
  const bytes = Buffer.from(text, "latin1");
  return Buffer.concat([encodeInteger(bytes.length), bytes]);
}

/** An HPACK integer with a 7-bit prefix. */
function encodeInteger(length: number): Buffer {
  if (length < 127) return Buffer.from([length]);
  const bytes = [127];
  let rest = length - 127;
  for (; rest >= 128; rest >>>= 7) bytes.push((rest & 127) | 128);
  return Buffer.from([...bytes, rest]);
}

export function encodeSettings(pairs: readonly (readonly [id: number, value: number])[]): Buffer {
  const payload = Buffer.alloc(pairs.length * 6);
  for (const [index, [id, value]] of pairs.entries()) {
    payload.writeUInt16BE(id & 0xffff, index * 6);
    payload.writeUInt32BE(value >>> 0, index * 6 + 2);
  }
  return payload;
}
