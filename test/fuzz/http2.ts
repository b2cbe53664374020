/** Almost valid sequences of HTTP/2 frames (RFC 9113), with headers as HPACK literals without indexing (RFC 7541). */
import { corpus } from "./corpus.js";
import { mutateBytes } from "./mutate.js";
import type { Prng } from "./prng.js";
import { createRawInput } from "./raw.js";
import { fuzzEnvelope } from "./requests.js";
import type { InputGenerator } from "./send.js";

const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

const type = {
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

const END_STREAM = 1;
const ACK = 1;
const END_HEADERS = 4;

function frame(
  frameType: number,
  flags: number,
  stream: number,
  payload: Buffer = Buffer.alloc(0),
  length = payload.length,
) {
  const head = Buffer.alloc(9);
  head.writeUIntBE(length & 0xffffff, 0, 3);
  head[3] = frameType;
  head[4] = flags;
  head.writeUInt32BE(stream >>> 0, 5);
  return Buffer.concat([head, payload]);
}

type Header = readonly [name: string, value: string];

const encodeHeaders = (headers: readonly Header[]): Buffer =>
  Buffer.concat(headers.flatMap(([name, value]) => [Buffer.from([0]), encodeLiteral(name), encodeLiteral(value)]));

/** A string of HPACK, whose length is an integer with a 7-bit prefix. */
function encodeLiteral(text: string): Buffer {
  const bytes = Buffer.from(text, "latin1");
  if (bytes.length < 127) return Buffer.concat([Buffer.from([bytes.length]), bytes]);
  const length = [127];
  let rest = bytes.length - 127;
  for (; rest >= 128; rest >>>= 7) length.push((rest & 127) | 128);
  return Buffer.concat([Buffer.from([...length, rest]), bytes]);
}

function encodeSettings(pairs: readonly (readonly [id: number, value: number])[]): Buffer {
  const payload = Buffer.alloc(pairs.length * 6);
  for (const [index, [id, value]] of pairs.entries()) {
    payload.writeUInt16BE(id & 0xffff, index * 6);
    payload.writeUInt32BE(value >>> 0, index * 6 + 2);
  }
  return payload;
}

function word(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
}

const NUMBERS = [0, 1, 2, 5, 16_383, 16_384, 65_535, 2 ** 24 - 1, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1];

const HEADERS: readonly Header[] = [
  [":path", "/again"],
  [":status", "200"],
  [":a", "b"],
  ["Upper", "case"],
  ["connection", "close"],
  ["transfer-encoding", "chunked"],
  ["content-length", "3"],
  ["content-length", "a"],
  ["te", "gzip"],
  ["host", "a"],
  ["", "a"],
  ["a", "\u0000\r\n"],
  ["a", "b".repeat(20_000)],
  ["expect", "100-continue"],
];

/** Mostly one of the first four client streams, open or not. */
const pickStream = (prng: Prng): number =>
  prng.chance(85) ? 1 + 2 * prng.below(4) : prng.pick([0, 2, 101, 2 ** 31 - 1, 2 ** 31 + 1]);

const noise = (prng: Prng, limit: number): Buffer => prng.bytes(prng.below(limit));

function request(prng: Prng): Buffer {
  const entry = prng.pick(corpus);
  const isGrpc = prng.chance(60);
  const isBodiless = !isGrpc && entry.body === undefined;
  const lines: Header[] = [
    [":method", isGrpc ? "POST" : entry.verb],
    [":scheme", "http"],
    [":path", isGrpc ? entry.procedure : entry.path],
    [":authority", "a"],
    ["content-type", isGrpc ? "application/grpc" : "application/json"],
  ];
  if (prng.chance(15)) lines.splice(prng.below(lines.length), 1);
  if (prng.chance(20)) lines.splice(prng.below(lines.length + 1), 0, prng.pick(HEADERS));
  const stream = pickStream(prng);
  const valid = encodeHeaders(lines);
  const block = prng.chance(15) ? mutateBytes(prng, valid, 2) : valid;
  const head = frame(type.HEADERS, END_HEADERS | (isBodiless ? END_STREAM : 0), stream, block);
  if (isBodiless) return head;
  const message = isGrpc ? fuzzEnvelope(prng, entry.binary, false) : Buffer.from(JSON.stringify(entry.body));
  const chunks = prng.split(message, prng.below(3));
  const data = chunks.map((payload, index) =>
    frame(type.DATA, index === chunks.length - 1 && prng.chance(90) ? END_STREAM : 0, stream, payload),
  );
  return Buffer.concat([head, ...data]);
}

/** Rapid resets (CVE-2023-44487). */
function resets(prng: Prng): Buffer {
  const lines: readonly Header[] = [
    [":method", "GET"],
    [":scheme", "http"],
    [":path", "/livez"],
    [":authority", "a"],
  ];
  const pairs = Array.from({ length: prng.between(5, 60) }, (_, index) => [
    frame(type.HEADERS, END_HEADERS | END_STREAM, 101 + 2 * index, encodeHeaders(lines)),
    frame(type.RST_STREAM, 0, 101 + 2 * index, word(8)),
  ]);
  return Buffer.concat(pairs.flat());
}

/** A header block without an end (CVE-2024-27316). */
function endlessHeaders(prng: Prng): Buffer {
  const stream = pickStream(prng);
  const more = Array.from({ length: prng.between(5, 60) }, () => frame(type.CONTINUATION, 0, stream, prng.bytes(4)));
  return Buffer.concat([frame(type.HEADERS, 0, stream), ...more]);
}

function settings(prng: Prng): Buffer {
  const pairs = Array.from({ length: prng.below(6) }, () => [prng.below(10), prng.pick(NUMBERS)] as const);
  return frame(type.SETTINGS, prng.chance(80) ? 0 : ACK, 0, encodeSettings(pairs));
}

const frameMakers: readonly ((prng: Prng) => Buffer)[] = [
  ...Array.from({ length: 16 }, () => request),
  settings,
  resets,
  endlessHeaders,
  (prng) => frame(type.HEADERS, prng.below(256), pickStream(prng), noise(prng, 60)),
  (prng) => frame(type.DATA, prng.below(16), pickStream(prng), noise(prng, 60)),
  (prng) => frame(type.DATA, 0, pickStream(prng), Buffer.alloc(20_000)),
  (prng) => frame(type.PRIORITY, 0, pickStream(prng), prng.bytes(prng.pick([5, 5, 4]))),
  (prng) => frame(type.RST_STREAM, 0, pickStream(prng), word(prng.below(16))),
  (prng) => frame(type.PUSH_PROMISE, END_HEADERS, pickStream(prng), prng.bytes(20)),
  (prng) => frame(type.PING, prng.below(2), 0, prng.bytes(prng.pick([8, 8, 8, 7]))),
  (prng) => frame(type.GOAWAY, 0, 0, Buffer.concat([word(prng.pick(NUMBERS)), word(prng.below(16))])),
  (prng) => frame(type.WINDOW_UPDATE, 0, prng.chance(50) ? 0 : pickStream(prng), word(prng.pick(NUMBERS))),
  (prng) => frame(type.CONTINUATION, END_HEADERS, pickStream(prng), noise(prng, 40)),
  (prng) => frame(prng.below(256), prng.below(256), pickStream(prng), noise(prng, 40)),
  (prng) => frame(prng.below(10), 0, pickStream(prng), prng.bytes(30), prng.pick(NUMBERS)),
];

export const http2: InputGenerator = {
  name: "http2",
  share: 8,
  inFlight: 24,
  make(prng) {
    // Without a dynamic table every status can be read.
    const opening = [
      prng.chance(95) ? PREFACE : mutateBytes(prng, PREFACE, 1),
      frame(type.SETTINGS, 0, 0, encodeSettings([[1, 0]])),
    ];
    const frames = Array.from({ length: prng.between(1, 10) }, () => prng.pick(frameMakers)(prng));
    const valid = Buffer.concat([...opening, ...frames]);
    const bytes = prng.chance(10) ? mutateBytes(prng, valid, 2) : valid;
    const chunks = prng.split(bytes, prng.chance(60) ? 0 : prng.between(1, 5));
    return createRawInput({ chunks, lingerMs: prng.pick([0, 5, 30]), isReset: prng.chance(10) });
  },
};
