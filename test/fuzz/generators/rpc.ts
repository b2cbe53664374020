/** Almost valid Connect, gRPC and gRPC-Web requests. */
import { gzipSync } from "node:zlib";
import type { Prng } from "../prng.js";
import type { InputGenerator } from "../input.js";
import { mutateBytes } from "../mutate/bytes.js";
import { mutatePath } from "../mutate/path.js";
import { type CorpusEntry, corpus } from "../corpus.js";
import { createRequestInput, type FuzzRequest } from "../send/request.js";
import { fuzzEnvelope } from "./envelopes.js";
import { pickHeaders } from "./headers.js";
import { fuzzBody } from "./rest.js";

/** 48 MiB of zeros, 48 KB compressed. */
const GZIP_BOMB = gzipSync(Buffer.alloc(48 * 1024 * 1024));

const CONNECT_TIMES = ["0", "1", "1000", "9999999999", "99999999999", "-1", "a", "", "1.5"];
const GRPC_TIMES = ["0n", "1n", "1m", "1S", "99999999H", "999999999S", "1", "S", "-1S", "", "1x"];
const ENCODINGS = ["gzip", "identity", "br", "x", "", "gzip, gzip"];

function fuzzMessage(prng: Prng, entry: CorpusEntry, isJson: boolean): Buffer {
  if (isJson) return fuzzBody(prng, entry.json);
  return prng.chance(75) ? mutateBytes(prng, entry.binary) : entry.binary;
}

function fuzzGzip(prng: Prng, bytes: Buffer): Buffer {
  if (prng.chance(1)) return GZIP_BOMB;
  const gzipped = gzipSync(bytes);
  return prng.chance(40) ? mutateBytes(prng, gzipped, 2) : gzipped;
}

type MakeRequest = (
  prng: Prng,
  entry: CorpusEntry,
) => Omit<FuzzRequest, "version" | "path"> & { readonly query?: string };

const connect: MakeRequest = (prng, entry) => {
  const isJson = prng.chance(50);
  const message = fuzzMessage(prng, entry, isJson);
  const encoding = prng.chance(10) ? prng.pick(ENCODINGS) : undefined;
  return {
    method: prng.chance(97) ? "POST" : prng.pick(["GET", "PUT", "HEAD", "OPTIONS", "DELETE"]),
    headers: {
      "content-type": prng.chance(95)
        ? `application/${isJson ? "json" : "proto"}`
        : prng.pick([
            "application/connect+json",
            "application/connect+proto",
            "application/json; charset=a",
            "text/plain",
            "",
          ]),
      ...(encoding !== undefined && { "content-encoding": encoding }),
      ...(prng.chance(10) && { "connect-timeout-ms": prng.pick(CONNECT_TIMES) }),
      ...(prng.chance(20) && { "connect-protocol-version": prng.pick(["1", "2", ""]) }),
    },
    body: encoding === "gzip" ? fuzzGzip(prng, message) : message,
  };
};

const connectGet: MakeRequest = (prng, entry) => {
  const isJson = prng.chance(50);
  const isCompressed = prng.chance(15);
  const message = fuzzMessage(prng, entry, isJson).subarray(0, 8_000);
  const query = [
    `encoding=${prng.chance(90) ? (isJson ? "json" : "proto") : prng.pick(["", "x", "json&encoding=proto"])}`,
    ...(prng.chance(80) ? ["base64=1"] : []),
    ...(isCompressed ? [`compression=${prng.pick(["gzip", "gzip", "x", "identity"])}`] : []),
    ...(prng.chance(80) ? [`connect=${prng.pick(["v1", "v1", "v2", ""])}`] : []),
    `message=${(isCompressed ? gzipSync(message) : message).toString(prng.pick(["base64url", "base64url", "hex"]))}`,
  ];
  const isCut = prng.chance(10);
  return {
    method: "GET",
    headers: prng.chance(5) ? { "connect-timeout-ms": prng.pick(CONNECT_TIMES) } : {},
    body: Buffer.alloc(0),
    query: (isCut ? query.toSpliced(prng.below(query.length), 1) : query).join("&"),
  };
};

const grpc =
  (family: "grpc" | "grpc-web"): MakeRequest =>
  (prng, entry) => {
    const isJson = prng.chance(10);
    const isText = family === "grpc-web" && prng.chance(15);
    const message = fuzzMessage(prng, entry, isJson);
    const encoding = prng.chance(15) ? prng.pick(ENCODINGS) : undefined;
    const isCompressed = encoding === "gzip" && prng.chance(80);
    const body = fuzzEnvelope(prng, isCompressed ? fuzzGzip(prng, message) : message, isCompressed);
    return {
      method: prng.chance(98) ? "POST" : prng.pick(["GET", "PUT", "OPTIONS"]),
      headers: {
        "content-type": `application/${family}${isText ? "-text" : ""}${prng.pick(["", "+proto", "+proto", isJson ? "+json" : "", prng.chance(10) ? "+x" : ""])}`,
        te: "trailers",
        ...(encoding !== undefined && { "grpc-encoding": encoding }),
        ...(prng.chance(10) && { "grpc-timeout": prng.pick(GRPC_TIMES) }),
      },
      body: isText ? Buffer.from(body.toString("base64")) : body,
    };
  };

/** Each with its usual HTTP version. */
const MAKERS: readonly (readonly [make: MakeRequest, version: 1 | 2])[] = [
  [connect, 1],
  [connect, 1],
  [connectGet, 1],
  [grpc("grpc"), 2],
  [grpc("grpc"), 2],
  [grpc("grpc-web"), 1],
];

export const rpc: InputGenerator = {
  name: "rpc",
  share: 34,
  inFlight: 32,
  make(prng) {
    const entry = prng.pick(corpus);
    const [make, usual] = prng.pick(MAKERS);
    const { query, headers, ...request } = make(prng, entry);
    const path = prng.chance(2) ? mutatePath(prng, entry.procedure) : entry.procedure;
    return createRequestInput({
      version: prng.chance(90) ? usual : usual === 1 ? 2 : 1,
      path: query === undefined ? path : `${path}?${query}`,
      headers: { ...headers, ...(prng.chance(5) && pickHeaders(prng)) },
      ...request,
    });
  },
};
