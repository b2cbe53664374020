/** Connect, gRPC and gRPC-Web: messages that are nearly right, in framing that is nearly right. */
import { gzipSync } from "node:zlib";
import type { Dice } from "../prng.js";
import type { Sort } from "../input.js";
import { mutatedBytes } from "../mutate/bytes.js";
import { mutatedPath } from "../mutate/path.js";
import { type Seed, seeds } from "../corpus.js";
import { asking, type Request } from "../send/request.js";
import { enveloped } from "./envelopes.js";
import { someHeaders } from "./headers.js";
import { bodyOf } from "./rest.js";

/** 48 MiB of nothing, in as many kilobytes. */
const BOMB = gzipSync(Buffer.alloc(48 * 1024 * 1024));

const CONNECT_TIMES = ["0", "1", "1000", "9999999999", "99999999999", "-1", "a", "", "1.5"];
const GRPC_TIMES = ["0n", "1n", "1m", "1S", "99999999H", "999999999S", "1", "S", "-1S", "", "1x"];
const ENCODINGS = ["gzip", "identity", "br", "x", "", "gzip, gzip"];

/** The message of a seed, changed or as it is, in JSON or protobuf. */
function messageOf(dice: Dice, seed: Seed, isJson: boolean): Buffer {
  if (isJson) return bodyOf(dice, seed.json);
  return dice.chance(75) ? mutatedBytes(dice, seed.binary) : seed.binary;
}

/** Bytes as gzip has them, mostly. */
function packed(dice: Dice, bytes: Buffer): Buffer {
  if (dice.chance(1)) return BOMB;
  const gzipped = gzipSync(bytes);
  return dice.chance(40) ? mutatedBytes(dice, gzipped, 2) : gzipped;
}

type Make = (dice: Dice, seed: Seed) => Omit<Request, "version" | "path"> & { readonly query?: string };

const connect: Make = (dice, seed) => {
  const isJson = dice.chance(50);
  const message = messageOf(dice, seed, isJson);
  const encoding = dice.chance(10) ? dice.pick(ENCODINGS) : undefined;
  return {
    method: dice.chance(97) ? "POST" : dice.pick(["GET", "PUT", "HEAD", "OPTIONS", "DELETE"]),
    headers: {
      "content-type": dice.chance(95)
        ? `application/${isJson ? "json" : "proto"}`
        : dice.pick([
            "application/connect+json",
            "application/connect+proto",
            "application/json; charset=a",
            "text/plain",
            "",
          ]),
      ...(encoding !== undefined && { "content-encoding": encoding }),
      ...(dice.chance(10) && { "connect-timeout-ms": dice.pick(CONNECT_TIMES) }),
      ...(dice.chance(20) && { "connect-protocol-version": dice.pick(["1", "2", ""]) }),
    },
    body: encoding === "gzip" ? packed(dice, message) : message,
  };
};

const connectGet: Make = (dice, seed) => {
  const isJson = dice.chance(50);
  const isPacked = dice.chance(15);
  const message = messageOf(dice, seed, isJson).subarray(0, 8_000);
  const query = [
    `encoding=${dice.chance(90) ? (isJson ? "json" : "proto") : dice.pick(["", "x", "json&encoding=proto"])}`,
    ...(dice.chance(80) ? ["base64=1"] : []),
    ...(isPacked ? [`compression=${dice.pick(["gzip", "gzip", "x", "identity"])}`] : []),
    ...(dice.chance(80) ? [`connect=${dice.pick(["v1", "v1", "v2", ""])}`] : []),
    `message=${(isPacked ? gzipSync(message) : message).toString(dice.pick(["base64url", "base64url", "hex"]))}`,
  ];
  const isCut = dice.chance(10);
  return {
    method: "GET",
    headers: dice.chance(5) ? { "connect-timeout-ms": dice.pick(CONNECT_TIMES) } : {},
    body: Buffer.alloc(0),
    query: (isCut ? query.toSpliced(dice.below(query.length), 1) : query).join("&"),
  };
};

const grpc =
  (family: "grpc" | "grpc-web"): Make =>
  (dice, seed) => {
    const isJson = dice.chance(10);
    const isText = family === "grpc-web" && dice.chance(15);
    const message = messageOf(dice, seed, isJson);
    const encoding = dice.chance(15) ? dice.pick(ENCODINGS) : undefined;
    const isPacked = encoding === "gzip" && dice.chance(80);
    const body = enveloped(dice, isPacked ? packed(dice, message) : message, isPacked);
    return {
      method: dice.chance(98) ? "POST" : dice.pick(["GET", "PUT", "OPTIONS"]),
      headers: {
        "content-type": `application/${family}${isText ? "-text" : ""}${dice.pick(["", "+proto", "+proto", isJson ? "+json" : "", dice.chance(10) ? "+x" : ""])}`,
        te: "trailers",
        ...(encoding !== undefined && { "grpc-encoding": encoding }),
        ...(dice.chance(10) && { "grpc-timeout": dice.pick(GRPC_TIMES) }),
      },
      body: isText ? Buffer.from(body.toString("base64")) : body,
    };
  };

/** Each with the version of HTTP that it mostly goes by. */
const KINDS: readonly (readonly [make: Make, version: 1 | 2])[] = [
  [connect, 1],
  [connect, 1],
  [connectGet, 1],
  [grpc("grpc"), 2],
  [grpc("grpc"), 2],
  [grpc("grpc-web"), 1],
];

export const rpc: Sort = {
  name: "rpc",
  share: 34,
  inFlight: 32,
  make(dice) {
    const seed = dice.pick(seeds);
    const [make, usual] = dice.pick(KINDS);
    const { query, headers, ...request } = make(dice, seed);
    const path = dice.chance(2) ? mutatedPath(dice, seed.procedure) : seed.procedure;
    return asking({
      version: dice.chance(90) ? usual : usual === 1 ? 2 : 1,
      path: query === undefined ? path : `${path}?${query}`,
      headers: { ...headers, ...(dice.chance(5) && someHeaders(dice)) },
      ...request,
    });
  },
};
