/** gzip: by @fastify/compress for REST and files, and by node:zlib for plain calls of Connect and gRPC. */
import { AsyncLocalStorage } from "node:async_hooks";
import { promisify } from "node:util";
import { gzip as gzipCallback } from "node:zlib";
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

const inThread = promisify<Uint8Array, { readonly level: number }, Buffer>(gzipCallback);

/** Undefined where the message is not worth it, or gzip does not make it shorter. */
export async function gzip(message: Buffer): Promise<Buffer | undefined> {
  if (message.length < MIN_COMPRESSED_BYTES) return undefined;
  const compressed = await inThread(message, { level: GZIP_LEVEL });
  return compressed.length < message.length ? compressed : undefined;
}

/** Throws for a message that must not be decoded. */
type MessageCheck = (message: Uint8Array) => void;

/** Of the call for which connect-es decompresses: a compression does not learn for which. */
export const decompressedCheck = new AsyncLocalStorage<MessageCheck>();

/** connect-node takes a stream of gzip that ends early for a fault of the service. */
export const rpcGzip: typeof compressionGzip = {
  ...compressionGzip,
  async decompress(bytes, maxBytes) {
    const message = await compressionGzip.decompress(bytes, maxBytes).catch((error: unknown) => {
      const { code, rawMessage } = ConnectError.from(error);
      throw new ConnectError(rawMessage, code === Code.Internal ? Code.InvalidArgument : code);
    });
    decompressedCheck.getStore()?.(message);
    return message;
  },
};

// Clients send few different values.
const acceptsIn = boundedMemoize(parse);

/**
 * Whether a client accepts gzip and does not prefer the identity, by quality values (RFC 9110, 12.5.3). gRPC sends a list
 * without them. A client without the header gets the identity.
 */
export function acceptsGzip(header: string | readonly string[] | undefined): boolean {
  if (header === undefined) return false;
  return acceptsIn(typeof header === "string" ? header : header.join());
}

function parse(header: string): boolean {
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
