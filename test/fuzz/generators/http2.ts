/** Almost valid sequences of HTTP/2 frames. */
import type { Prng } from "../prng.js";
import type { InputGenerator } from "../input.js";
import { mutateBytes } from "../mutate/bytes.js";
import { corpus } from "../corpus.js";
import { encodeFrame, encodeHeaders, encodeSettings, flag, PREFACE, type } from "../send/frames.js";
import { createRawInput } from "../send/raw.js";
import { fuzzEnvelope } from "./envelopes.js";

const NUMBERS = [0, 1, 2, 5, 16_383, 16_384, 65_535, 2 ** 24 - 1, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1];

const HEADERS: readonly (readonly [name: string, value: string])[] = [
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

function request(prng: Prng): Buffer {
  const entry = prng.pick(corpus);
  const isGrpc = prng.chance(60);
  const isBodiless = !isGrpc && entry.body === undefined;
  const lines: (readonly [string, string])[] = [
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
  const flags = flag.END_HEADERS | (isBodiless ? flag.END_STREAM : 0);
  const head = encodeFrame({ type: type.HEADERS, flags, stream, payload: block });
  if (isBodiless) return head;
  const message = isGrpc ? fuzzEnvelope(prng, entry.binary, false) : Buffer.from(JSON.stringify(entry.body));
  const chunks = prng.split(message, prng.below(3));
  const data = chunks.map((payload, index) =>
    encodeFrame({
      type: type.DATA,
      flags: index === chunks.length - 1 && prng.chance(90) ? flag.END_STREAM : 0,
      stream,
      payload,
    }),
  );
  return Buffer.concat([head, ...data]);
}

function encodeUint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
}

const frameMakers: readonly ((prng: Prng) => Buffer)[] = [
  ...Array.from({ length: 16 }, () => request),
  (prng) =>
    encodeFrame({
      type: type.HEADERS,
      flags: prng.below(256),
      stream: pickStream(prng),
      payload: prng.bytes(prng.below(60)),
    }),
  (prng) =>
    encodeFrame({
      type: type.DATA,
      flags: prng.below(16),
      stream: pickStream(prng),
      payload: prng.bytes(prng.below(60)),
    }),
  (prng) => encodeFrame({ type: type.PRIORITY, stream: pickStream(prng), payload: prng.bytes(prng.pick([5, 5, 4])) }),
  (prng) => encodeFrame({ type: type.RST_STREAM, stream: pickStream(prng), payload: encodeUint32(prng.below(16)) }),
  (prng) => {
    const pairs = Array.from({ length: prng.below(6) }, () => [prng.below(10), prng.pick(NUMBERS)] as const);
    return encodeFrame({ type: type.SETTINGS, flags: prng.chance(80) ? 0 : flag.ACK, payload: encodeSettings(pairs) });
  },
  (prng) =>
    encodeFrame({
      type: type.PUSH_PROMISE,
      flags: flag.END_HEADERS,
      stream: pickStream(prng),
      payload: prng.bytes(20),
    }),
  (prng) => encodeFrame({ type: type.PING, flags: prng.below(2), payload: prng.bytes(prng.pick([8, 8, 8, 7])) }),
  (prng) =>
    encodeFrame({
      type: type.GOAWAY,
      payload: Buffer.concat([encodeUint32(prng.pick(NUMBERS)), encodeUint32(prng.below(16))]),
    }),
  (prng) =>
    encodeFrame({
      type: type.WINDOW_UPDATE,
      stream: prng.chance(50) ? 0 : pickStream(prng),
      payload: encodeUint32(prng.pick(NUMBERS)),
    }),
  (prng) =>
    encodeFrame({
      type: type.CONTINUATION,
      flags: flag.END_HEADERS,
      stream: pickStream(prng),
      payload: prng.bytes(prng.below(40)),
    }),
  (prng) =>
    encodeFrame({
      type: prng.below(256),
      flags: prng.below(256),
      stream: pickStream(prng),
      payload: prng.bytes(prng.below(40)),
    }),
  (prng) =>
    encodeFrame({
      type: prng.below(10),
      stream: pickStream(prng),
      payload: prng.bytes(30),
      length: prng.pick(NUMBERS),
    }),
  (prng) => encodeFrame({ type: type.DATA, stream: pickStream(prng), payload: Buffer.alloc(20_000) }),
  // Rapid resets (CVE-2023-44487), then header blocks without an end (CVE-2024-27316).
  function resets(prng) {
    const head = encodeHeaders([
      [":method", "GET"],
      [":scheme", "http"],
      [":path", "/livez"],
      [":authority", "a"],
    ]);
    const pairs = Array.from({ length: prng.between(5, 60) }, (_, index) => [
      encodeFrame({
        type: type.HEADERS,
        flags: flag.END_HEADERS | flag.END_STREAM,
        stream: 101 + 2 * index,
        payload: head,
      }),
      encodeFrame({ type: type.RST_STREAM, stream: 101 + 2 * index, payload: encodeUint32(8) }),
    ]);
    return Buffer.concat(pairs.flat());
  },
  function endless(prng) {
    const stream = pickStream(prng);
    const more = Array.from({ length: prng.between(5, 60) }, () =>
      encodeFrame({ type: type.CONTINUATION, stream, payload: prng.bytes(4) }),
    );
    return Buffer.concat([encodeFrame({ type: type.HEADERS, stream }), ...more]);
  },
];

export const http2: InputGenerator = {
  name: "http2",
  share: 8,
  inFlight: 24,
  make(prng) {
    // Without a dynamic table the oracle can read every status.
    const opening = [
      prng.chance(95) ? PREFACE : mutateBytes(prng, PREFACE, 1),
      encodeFrame({ type: type.SETTINGS, payload: encodeSettings([[1, 0]]) }),
    ];
    const frames = Array.from({ length: prng.between(1, 10) }, () => prng.pick(frameMakers)(prng));
    const valid = Buffer.concat([...opening, ...frames]);
    const bytes = prng.chance(10) ? mutateBytes(prng, valid, 2) : valid;
    const chunks = prng.split(bytes, prng.chance(60) ? 0 : prng.between(1, 5));
    return createRawInput({ chunks, lingerMs: prng.pick([0, 5, 30]), isReset: prng.chance(10) });
  },
};
