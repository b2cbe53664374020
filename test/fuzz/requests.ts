/** Almost valid requests: REST, Connect, gRPC and gRPC-Web. */
import { gzipSync } from "node:zlib";
import type { JsonValue } from "@bufbuild/protobuf";
import { type CorpusEntry, corpus } from "./corpus.js";
import { mutateBytes, mutateJson, mutateJsonText, mutatePath } from "./mutate.js";
import type { Prng } from "./prng.js";
import { createRequestInput, type FuzzRequest, type InputGenerator } from "./send.js";

const METHODS = "GET HEAD POST PUT PATCH DELETE OPTIONS TRACE PROPFIND SEARCH".split(" ");

const TYPES = [
  ..."Application/JSON application/json;charset=utf-16 application/json; text/plain".split(" "),
  ..."application/json,text/plain application/x-www-form-urlencoded application/grpc application/* a ; / é".split(" "),
  "application/json; charset=utf-8",
  "multipart/form-data; boundary=a",
  "application/connect+json",
];

const PAGES = "/docs /docs/ /docs/static/index.html /docs/json /docs/..%2f..%2fpackage.json / /metrics".split(" ");

/** For any request. */
const HEADERS: readonly (readonly [name: string, value: string])[] = [
  ["accept", "text/html"],
  ["accept", "*/*;q=2,,;"],
  ["accept-encoding", "gzip, br;q=a"],
  ["authorization", "Bearer a.b.c"],
  ["cookie", "a=b; =; __proto__=1"],
  ["origin", "null"],
  ["origin", "http://%00"],
  ["access-control-request-method", "POST"],
  ["access-control-request-headers", "a, b,,"],
  ["range", "bytes=0-0,-1"],
  ["if-none-match", '"a'],
  ["offledger-if-none-match", '"a,*,W/'],
  ["if-modified-since", "never"],
  ["x-forwarded-for", "::1, a"],
  ["x-forwarded-proto", "https"],
  ["forwarded", 'for="[::1'],
  ["x-http-method-override", "DELETE"],
  ["traceparent", "00-0-0-00"],
  ["x-request-id", "a".repeat(3_000)],
  ["__proto__", "a"],
  ["constructor", "a"],
  ["te", "trailers"],
  ["user-agent", ""],
  ["grpc-timeout", "1S"],
];

const pickHeaders = (prng: Prng): Record<string, string> =>
  Object.fromEntries(Array.from({ length: prng.between(1, 4) }, () => prng.pick(HEADERS)));

/** Above the body limit of the service. */
const OVERSIZED_BODY = Buffer.alloc(1024 * 1024 + 1, '{"a":');

function fuzzJsonBody(prng: Prng, valid: JsonValue = {}): Buffer {
  if (prng.chance(0.05)) return OVERSIZED_BODY;
  let text = JSON.stringify(prng.chance(70) ? mutateJson(prng, valid) : valid);
  if (prng.chance(20)) text = mutateJsonText(prng, text);
  const bytes = Buffer.from(text);
  return prng.chance(10) ? mutateBytes(prng, bytes) : bytes;
}

function fuzzRestPath(prng: Prng, path: string): string {
  if (prng.chance(1)) return mutatePath(prng, prng.pick(PAGES));
  return prng.chance(35) ? mutatePath(prng, path) : path;
}

function fuzzRest(prng: Prng, { verb, path, body }: CorpusEntry): FuzzRequest {
  const method = prng.chance(4) ? prng.pick(METHODS) : verb;
  const hasBody = body === undefined ? prng.chance(10) : prng.chance(98);
  const bytes = hasBody ? fuzzJsonBody(prng, body) : Buffer.alloc(0);
  const isCompressed = prng.chance(1);
  const type = prng.chance(8) ? prng.pick(TYPES) : "application/json";
  return {
    version: prng.chance(25) ? 2 : 1,
    method,
    path: fuzzRestPath(prng, path),
    headers: {
      ...(prng.chance(98) && { "content-type": type }),
      ...(isCompressed && { "content-encoding": prng.pick(["gzip", "br", "identity", "x", ""]) }),
      ...(prng.chance(10) && pickHeaders(prng)),
    },
    body: isCompressed && prng.chance(50) ? gzipSync(bytes) : bytes,
  };
}

export const rest: InputGenerator = {
  name: "rest",
  share: 46,
  inFlight: 32,
  make: (prng) => createRequestInput(fuzzRest(prng, prng.pick(corpus))),
};

/** 48 MiB of zeros, 48 KB compressed. */
const GZIP_BOMB = gzipSync(Buffer.alloc(48 * 1024 * 1024));

const CONNECT_TIMES = ["0", "1", "1000", "9999999999", "99999999999", "-1", "a", "", "1.5"];
const GRPC_TIMES = ["0n", "1n", "1m", "1S", "99999999H", "999999999S", "1", "S", "-1S", "", "1x"];
const ENCODINGS = ["gzip", "identity", "br", "x", "", "gzip, gzip"];
const OTHER_CONNECT_TYPES =
  "application/connect+json | application/connect+proto | application/json; charset=a | text/plain | ".split(" | ");

function fuzzMessage(prng: Prng, entry: CorpusEntry, isJson: boolean): Buffer {
  if (isJson) return fuzzJsonBody(prng, entry.json);
  return prng.chance(75) ? mutateBytes(prng, entry.binary) : entry.binary;
}

function fuzzGzip(prng: Prng, bytes: Buffer): Buffer {
  if (prng.chance(1)) return GZIP_BOMB;
  const gzipped = gzipSync(bytes);
  return prng.chance(40) ? mutateBytes(prng, gzipped, 2) : gzipped;
}

/** A gRPC envelope, valid or not: a flag, the length, the message. */
export function fuzzEnvelope(prng: Prng, message: Buffer, isCompressed: boolean): Buffer {
  const encode = (flags: number, length = message.length): Buffer => {
    const head = Buffer.alloc(5);
    head[0] = flags;
    head.writeUInt32BE(length >>> 0, 1);
    return Buffer.concat([head, message]);
  };
  const flags = isCompressed ? 1 : 0;
  const lengths = [0, 1, message.length - 1, message.length + 1, 1 << 20, 0x7fffffff, 0xffffffff];
  const valid = encode(flags);
  const invalid: readonly (() => Buffer)[] = [
    () => encode(prng.pick([1, 2, 3, 0x80, 0x81, 0xff])),
    () => encode(flags, prng.pick(lengths)),
    () => Buffer.concat(Array.from({ length: prng.between(2, 5) }, () => valid)),
    () => Buffer.alloc(0),
    () => valid.subarray(0, prng.below(valid.length)),
    () => Buffer.concat([valid, prng.bytes(prng.between(1, 10))]),
    () => message,
  ];
  return prng.chance(35) ? prng.pick(invalid)() : valid;
}

type MakeRpc = (prng: Prng, entry: CorpusEntry) => Omit<FuzzRequest, "version" | "path"> & { readonly query?: string };

const connect: MakeRpc = (prng, entry) => {
  const isJson = prng.chance(50);
  const message = fuzzMessage(prng, entry, isJson);
  const encoding = prng.chance(10) ? prng.pick(ENCODINGS) : undefined;
  const type = `application/${isJson ? "json" : "proto"}`;
  return {
    method: prng.chance(97) ? "POST" : prng.pick(["GET", "PUT", "HEAD", "OPTIONS", "DELETE"]),
    headers: {
      "content-type": prng.chance(95) ? type : prng.pick(OTHER_CONNECT_TYPES),
      ...(encoding !== undefined && { "content-encoding": encoding }),
      ...(prng.chance(10) && { "connect-timeout-ms": prng.pick(CONNECT_TIMES) }),
      ...(prng.chance(20) && { "connect-protocol-version": prng.pick(["1", "2", ""]) }),
    },
    body: encoding === "gzip" ? fuzzGzip(prng, message) : message,
  };
};

const connectGet: MakeRpc = (prng, entry) => {
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
  (family: "grpc" | "grpc-web"): MakeRpc =>
  (prng, entry) => {
    const isJson = prng.chance(10);
    const isText = family === "grpc-web" && prng.chance(15);
    const message = fuzzMessage(prng, entry, isJson);
    const encoding = prng.chance(15) ? prng.pick(ENCODINGS) : undefined;
    const isCompressed = encoding === "gzip" && prng.chance(80);
    const body = fuzzEnvelope(prng, isCompressed ? fuzzGzip(prng, message) : message, isCompressed);
    const suffix = prng.pick(["", "+proto", "+proto", isJson ? "+json" : "", prng.chance(10) ? "+x" : ""]);
    return {
      method: prng.chance(98) ? "POST" : prng.pick(["GET", "PUT", "OPTIONS"]),
      headers: {
        "content-type": `application/${family}${isText ? "-text" : ""}${suffix}`,
        te: "trailers",
        ...(encoding !== undefined && { "grpc-encoding": encoding }),
        ...(prng.chance(10) && { "grpc-timeout": prng.pick(GRPC_TIMES) }),
      },
      body: isText ? Buffer.from(body.toString("base64")) : body,
    };
  };

/** Each with its usual HTTP version. */
const rpcMakers: readonly (readonly [make: MakeRpc, version: 1 | 2])[] = [
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
    const [make, usual] = prng.pick(rpcMakers);
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
