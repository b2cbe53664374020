/** Frames of HTTP/2 that are nearly a conversation. */
import type { Dice } from "../prng.js";
import type { Sort } from "../input.js";
import { mutatedBytes } from "../mutate/bytes.js";
import { seeds } from "../corpus.js";
import { flag, frame, headerBlock, PREFACE, settings, type } from "../send/frames.js";
import { raw } from "../send/raw.js";
import { enveloped } from "./envelopes.js";

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

/** A stream that may have been opened, or may be opened next. */
const streamOf = (dice: Dice): number =>
  dice.chance(85) ? 1 + 2 * dice.below(4) : dice.pick([0, 2, 101, 2 ** 31 - 1, 2 ** 31 + 1]);

function request(dice: Dice): Buffer {
  const seed = dice.pick(seeds);
  const isGrpc = dice.chance(60);
  const isBodiless = !isGrpc && seed.body === undefined;
  const lines: (readonly [string, string])[] = [
    [":method", isGrpc ? "POST" : seed.verb],
    [":scheme", "http"],
    [":path", isGrpc ? seed.procedure : seed.path],
    [":authority", "a"],
    ["content-type", isGrpc ? "application/grpc" : "application/json"],
  ];
  if (dice.chance(15)) lines.splice(dice.below(lines.length), 1);
  if (dice.chance(20)) lines.splice(dice.below(lines.length + 1), 0, dice.pick(HEADERS));
  const stream = streamOf(dice);
  const right = headerBlock(lines);
  const block = dice.chance(15) ? mutatedBytes(dice, right, 2) : right;
  const flags = flag.END_HEADERS | (isBodiless ? flag.END_STREAM : 0);
  const head = frame({ type: type.HEADERS, flags, stream, payload: block });
  if (isBodiless) return head;
  const message = isGrpc ? enveloped(dice, seed.binary, false) : Buffer.from(JSON.stringify(seed.body));
  const pieces = dice.pieces(message, dice.below(3));
  const data = pieces.map((payload, index) =>
    frame({
      type: type.DATA,
      flags: index === pieces.length - 1 && dice.chance(90) ? flag.END_STREAM : 0,
      stream,
      payload,
    }),
  );
  return Buffer.concat([head, ...data]);
}

function number32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
}

const kinds: readonly ((dice: Dice) => Buffer)[] = [
  ...Array.from({ length: 16 }, () => request),
  (dice) =>
    frame({ type: type.HEADERS, flags: dice.below(256), stream: streamOf(dice), payload: dice.bytes(dice.below(60)) }),
  (dice) =>
    frame({ type: type.DATA, flags: dice.below(16), stream: streamOf(dice), payload: dice.bytes(dice.below(60)) }),
  (dice) => frame({ type: type.PRIORITY, stream: streamOf(dice), payload: dice.bytes(dice.pick([5, 5, 4])) }),
  (dice) => frame({ type: type.RST_STREAM, stream: streamOf(dice), payload: number32(dice.below(16)) }),
  (dice) => {
    const pairs = Array.from({ length: dice.below(6) }, () => [dice.below(10), dice.pick(NUMBERS)] as const);
    return frame({ type: type.SETTINGS, flags: dice.chance(80) ? 0 : flag.ACK, payload: settings(pairs) });
  },
  (dice) =>
    frame({ type: type.PUSH_PROMISE, flags: flag.END_HEADERS, stream: streamOf(dice), payload: dice.bytes(20) }),
  (dice) => frame({ type: type.PING, flags: dice.below(2), payload: dice.bytes(dice.pick([8, 8, 8, 7])) }),
  (dice) =>
    frame({ type: type.GOAWAY, payload: Buffer.concat([number32(dice.pick(NUMBERS)), number32(dice.below(16))]) }),
  (dice) =>
    frame({
      type: type.WINDOW_UPDATE,
      stream: dice.chance(50) ? 0 : streamOf(dice),
      payload: number32(dice.pick(NUMBERS)),
    }),
  (dice) =>
    frame({
      type: type.CONTINUATION,
      flags: flag.END_HEADERS,
      stream: streamOf(dice),
      payload: dice.bytes(dice.below(40)),
    }),
  (dice) =>
    frame({
      type: dice.below(256),
      flags: dice.below(256),
      stream: streamOf(dice),
      payload: dice.bytes(dice.below(40)),
    }),
  (dice) =>
    frame({ type: dice.below(10), stream: streamOf(dice), payload: dice.bytes(30), length: dice.pick(NUMBERS) }),
  (dice) => frame({ type: type.DATA, stream: streamOf(dice), payload: Buffer.alloc(20_000) }),
  // Opened and given up, again and again, and blocks of headers that never end.
  function resets(dice) {
    const head = headerBlock([
      [":method", "GET"],
      [":scheme", "http"],
      [":path", "/livez"],
      [":authority", "a"],
    ]);
    const pairs = Array.from({ length: dice.between(5, 60) }, (_, index) => [
      frame({ type: type.HEADERS, flags: flag.END_HEADERS | flag.END_STREAM, stream: 101 + 2 * index, payload: head }),
      frame({ type: type.RST_STREAM, stream: 101 + 2 * index, payload: number32(8) }),
    ]);
    return Buffer.concat(pairs.flat());
  },
  function endless(dice) {
    const stream = streamOf(dice);
    const more = Array.from({ length: dice.between(5, 60) }, () =>
      frame({ type: type.CONTINUATION, stream, payload: dice.bytes(4) }),
    );
    return Buffer.concat([frame({ type: type.HEADERS, stream }), ...more]);
  },
];

export const http2: Sort = {
  name: "http2",
  share: 8,
  inFlight: 24,
  make(dice) {
    // Without a table of headers the judge can read every status.
    const opening = [
      dice.chance(95) ? PREFACE : mutatedBytes(dice, PREFACE, 1),
      frame({ type: type.SETTINGS, payload: settings([[1, 0]]) }),
    ];
    const frames = Array.from({ length: dice.between(1, 10) }, () => dice.pick(kinds)(dice));
    const right = Buffer.concat([...opening, ...frames]);
    const bytes = dice.chance(10) ? mutatedBytes(dice, right, 2) : right;
    const pieces = dice.pieces(bytes, dice.chance(60) ? 0 : dice.between(1, 5));
    return raw({ pieces, lingerMs: dice.pick([0, 5, 30]), isReset: dice.chance(10) });
  },
};
