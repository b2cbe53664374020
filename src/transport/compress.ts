/** gzip: by node:zlib for responses of operations, by @fastify/compress for files. */
import { promisify } from "node:util";
import { gzip as gzipCallback, gzipSync } from "node:zlib";
import { Code, ConnectError } from "@connectrpc/connect";
import { compressionGzip } from "@connectrpc/connect-node";
import compress from "@fastify/compress";
import type { FastifyInstance } from "fastify";
import { boundedMemoize } from "../util/memoize.js";

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
export function gzip(body: Buffer, prefixBytes: number): Buffer | Promise<Buffer> {
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
