/**
 * Answers one unary request, whatever its protocol: executes the operation, says what the result rests on, leaves out what
 * the client has already, encodes and compresses. The page is docs/caching.md; conditions are those of RFC 9110, section
 * 13.1.2.
 */
import type { IncomingMessage } from "node:http";
import { promisify } from "node:util";
import { gzip as gzipCallback, gzipSync } from "node:zlib";
import type { Message } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { compressionGzip } from "@connectrpc/connect-node";
import compress from "@fastify/compress";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { formatLedgerTime } from "../util/json.js";
import type { Result, ReadVersion } from "../service/executor.js";
import { type QueryRecorder, Recording, type Tag } from "../service/recorder.js";
import { withTimeout } from "../util/async.js";
import { boundedMemoize, memoizeLast } from "../util/memoize.js";
import { toBuffer } from "./encoding/disclosed-contract.js";
import { rejection } from "./errors.js";
import type { Encoding, Rpc } from "./rpcs.js";

/** How a protocol carries a response. */
export interface Carrier {
  readonly encoding: Encoding;
  /** The header with the content codings that the client accepts. */
  readonly accepts: "accept-encoding" | "grpc-accept-encoding";
  /** Bytes that the protocol puts before the message. */
  readonly prefixBytes: number;
  /** Sends the message behind its prefix. */
  send(reply: FastifyReply, body: Buffer, isCompressed: boolean): void;
}

/** JSON or protobuf as a body of HTTP: REST and unary Connect. */
export function httpCarrier(encoding: Encoding, contentType: string): Carrier {
  return {
    encoding,
    accepts: "accept-encoding",
    prefixBytes: 0,
    send(reply, body, isCompressed) {
      if (isCompressed) reply.header("content-encoding", "gzip");
      void reply.header("content-type", contentType).send(body);
    },
  };
}

interface UnaryCall {
  readonly rpc: Rpc;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly carrier: Carrier;
  /** Whether the response is compressed for a client that accepts it. */
  readonly compresses: boolean;
  /** When the client stops waiting, as `performance.now()`; undefined without a deadline. */
  readonly deadline?: number | undefined;
}

/** Throws, or rejects with, ConnectError. Synchronous where the operation is: a promise costs more than most queries. */
export function answer(call: UnaryCall, message: Message): void | Promise<void> {
  const { rpc, request, deadline } = call;
  const remainingMs = deadline === undefined ? Infinity : deadline - performance.now();
  if (remainingMs <= 0) throw deadlineExceeded();
  const recording = recordingFor(request.raw);
  const result = rpc.call(message, recording);
  if (!(result instanceof Promise)) return send(call, message, result, recording);
  return inTime(call, result).then((late) => send(call, message, late, recording));
}

/** Rejects at the deadline. The work itself goes on. */
const inTime = <T>({ deadline }: UnaryCall, result: Promise<T>): Promise<T> =>
  deadline === undefined ? result : withTimeout(result, deadline - performance.now(), failLate);

const deadlineExceeded = () => rejection("DEADLINE_EXCEEDED", "the operation timed out");
const failLate = (): never => {
  throw deadlineExceeded();
};

function send(
  call: UnaryCall,
  message: Message,
  result: Result<object>,
  recording: Recording | undefined,
): void | Promise<void> {
  const { rpc, request, reply, carrier, compresses } = call;
  const { headers, known } = validate(rpc, message, result, recording, request.raw);
  // What the client has needs no bodies.
  const taken = known === undefined ? rpc.takeBodies(result, message) : undefined;
  if (taken !== undefined) return inTime(call, taken).then((give) => send(call, message, give(), recording));
  reply.headers(headers);
  // A cache has to ask before each use whether the response is still the same. It must not keep an empty message, which is
  // the response to one client.
  if (result.readVersion !== undefined && request.method === "GET")
    reply.header("cache-control", known === "empty" ? "no-store" : "no-cache");
  if (compresses && carrier.accepts === "accept-encoding")
    reply.header("vary", varyByEncoding(reply.getHeader("vary")));
  if (known !== undefined) request.record.isNotModified = true;
  if (known === "304") {
    void reply.code(304).send();
    return undefined;
  }
  const { encoding, prefixBytes } = carrier;
  if (known === "empty") {
    reply.header(NOT_MODIFIED, "true");
    const empty = Buffer.alloc(prefixBytes + (encoding === "json" ? 2 : 0));
    if (encoding === "json") empty.write("{}", prefixBytes);
    return carrier.send(reply, empty, false);
  }
  const body = toBuffer(rpc.encode(result, message, encoding), prefixBytes);
  const length = body.length - prefixBytes;
  if (!compresses || length < MIN_COMPRESSED_BYTES || !acceptsGzip(request.headers[carrier.accepts])) {
    return carrier.send(reply, body, false);
  }
  const sendShorter = (compressed: Buffer) =>
    compressed.length < body.length ? carrier.send(reply, compressed, true) : carrier.send(reply, body, false);
  const compressed = gzip(body, prefixBytes);
  return compressed instanceof Promise ? compressed.then(sendShorter) : sendShorter(compressed);
}

/** Asks for the validators by every protocol; a client that has the response gets an empty one. */
const OWN_CONDITION = "offledger-if-none-match";
/** Asks by GET, for which HTTP has 304. */
const CONDITION = "if-none-match";
/** The response is empty because the client has it. */
const NOT_MODIFIED = "offledger-not-modified";

type Request = Pick<IncomingMessage, "headers" | "method">;

const isGet = ({ method }: Request): boolean => method === "GET" || method === "HEAD";

/** What to record for the validators of a response; undefined if the request does not ask for them. */
const recordingFor = (request: Request): Recording | undefined =>
  request.headers[OWN_CONDITION] !== undefined || (isGet(request) && request.headers[CONDITION] !== undefined)
    ? new Recording()
    : undefined;

/** How to send a response that the client has: as 304, or as an empty message. Undefined if the client does not have it. */
type Known = "304" | "empty" | undefined;

/** The headers that say what a response rests on, and whether the client has it already. */
function validate(
  rpc: Rpc,
  message: Message,
  result: Result<object>,
  recording: Recording | undefined,
  request: Request,
): { readonly headers: Readonly<Record<string, string>>; readonly known: Known } {
  if (result.readVersion === undefined) return RESTS_ON_NOTHING;
  const headers = stateHeaders(result.readVersion);
  if (recording?.last === undefined) return { headers, known: undefined };
  const etag = rpc.etag(result, message);
  const isKnown = (condition: string) => matchesEtag(request.headers[condition], etag);
  const known = isGet(request) && isKnown(CONDITION) ? "304" : isKnown(OWN_CONDITION) ? "empty" : undefined;
  return { headers: { ...headers, etag, ...lookupHeaders(recording.last) }, known };
}

const RESTS_ON_NOTHING = { headers: {}, known: undefined };

/** Of the state that a response rests on. */
const stateHeaders = memoizeLast(({ generation, offset, asOf }: ReadVersion): Record<string, string> => ({
  "offledger-generation": generation,
  "offledger-offset": String(offset),
  ...(asOf !== undefined && { "offledger-record-time": formatLedgerTime(asOf) }),
}));

/** When the response may become another one. None for one that depends on more than look-ups. */
function lookupHeaders({ tags, validUntil }: QueryRecorder): Record<string, string> {
  if (tags === undefined) return {};
  return {
    ...(validUntil !== undefined && { "offledger-valid-until": formatLedgerTime(validUntil) }),
    "offledger-tags": tagsHeader(tags),
  };
}

/** Whether a client has the content with this entity tag. Weak comparison: tags name what a response says, not its bytes. */
function matchesEtag(condition: string | readonly string[] | undefined, etag: string): boolean {
  if (condition === undefined) return false;
  const known = String(condition).split(",");
  return known.some((one) => one.trim() === "*" || opaqueTag(one.trim()) === opaqueTag(etag));
}

const opaqueTag = (etag: string): string => (etag.startsWith("W/") ? etag.slice(2) : etag);

const MAX_LISTED_TAGS = 90;
/** The first three hexadecimal digits of a tag select a bit. */
const SET_DIGITS = 3;

/** A list, or where the tags are too many a bit set of their first digits. */
export function tagsHeader(tags: ReadonlySet<Tag>): string {
  if (tags.size <= MAX_LISTED_TAGS) return [...tags].join(",");
  // Bit n is counted from the lowest of the first byte.
  const bytes = Buffer.alloc(16 ** SET_DIGITS / 8);
  for (const tag of tags) {
    const bit = Number.parseInt(tag.slice(0, SET_DIGITS), 16);
    bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) | (1 << (bit & 7));
  }
  return `~${bytes.toString("base64url")}`;
}

/** The only encoding of responses. */
export const GZIP = "gzip";
/** Shorter responses fit in a packet anyway. */
export const MIN_COMPRESSED_BYTES = 1_024;
/** Fastest: it takes most of what there is to gain, and a request waits for it. */
const GZIP_LEVEL = 1;

/** Of the routes of a scope. Not of the server as a whole: it would compress the frames of gRPC. */
export async function compressResponses(scope: FastifyInstance): Promise<void> {
  await scope.register(compress, {
    globalDecompression: false,
    encodings: [GZIP],
    threshold: MIN_COMPRESSED_BYTES,
    zlibOptions: { level: GZIP_LEVEL },
  });
}

/** A thread of the pool costs three times as much for 12 KB, which take a tenth of a millisecond. */
const MAX_SYNCHRONOUS_BYTES = 32 * 1024;

const inThread = promisify<Uint8Array, { readonly level: number }, Buffer>(gzipCallback);

/** Compresses what is behind a prefix, which it leaves as it is. */
function gzip(body: Buffer, prefixBytes: number): Buffer | Promise<Buffer> {
  const withPrefix = (compressed: Buffer) =>
    prefixBytes === 0 ? compressed : Buffer.concat([body.subarray(0, prefixBytes), compressed]);
  const message = body.subarray(prefixBytes);
  const options = { level: GZIP_LEVEL };
  if (message.length <= MAX_SYNCHRONOUS_BYTES) return withPrefix(gzipSync(message, options));
  return inThread(message, options).then(withPrefix);
}

/** connect-node takes a stream of gzip that ends early for a fault of the service. */
export const rpcGzip: typeof compressionGzip = {
  ...compressionGzip,
  decompress: (bytes, maxBytes) =>
    compressionGzip.decompress(bytes, maxBytes).catch((error: unknown) => {
      const { code, rawMessage } = ConnectError.from(error);
      throw new ConnectError(rawMessage, code === Code.Internal ? Code.InvalidArgument : code);
    }),
};

// Clients send few different values.
const acceptsIn = boundedMemoize(prefersGzip);

/**
 * Whether a client accepts gzip and does not prefer the identity, by quality values (RFC 9110, 12.5.3). gRPC sends a list
 * without them. A client without the header gets the identity.
 */
export function acceptsGzip(header: string | readonly string[] | undefined): boolean {
  if (header === undefined) return false;
  return acceptsIn(typeof header === "string" ? header : header.join());
}

function prefersGzip(header: string): boolean {
  const qualities = new Map(header.split(",").map(parseItem));
  const accepted = qualities.get(GZIP) ?? qualities.get("x-gzip") ?? qualities.get("*") ?? 0;
  return accepted > 0 && accepted >= (qualities.get("identity") ?? 0);
}

/** `q=` with at most three decimals. An item whose quality is malformed is not accepted. */
function parseItem(item: string): [coding: string, quality: number] {
  const [coding = "", ...parameters] = item.split(";").map((part) => part.trim().toLowerCase());
  const quality = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
  if (quality === undefined) return [coding, 1];
  return [coding, /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(quality) ? Number(quality) : 0];
}

/** As @fastify/compress writes it. */
const ACCEPT_ENCODING = "accept-encoding";

/** `Vary` of a response that may be compressed, together with what hooks have set. */
export function varyByEncoding(header: string | number | readonly string[] | undefined): string {
  if (header === undefined) return ACCEPT_ENCODING;
  const present = typeof header === "object" ? header.join(", ") : String(header);
  const names = new Set(present.split(",").map((name) => name.trim().toLowerCase()));
  return names.has("*") || names.has(ACCEPT_ENCODING) ? present : `${present}, ${ACCEPT_ENCODING}`;
}
