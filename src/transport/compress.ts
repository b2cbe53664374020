/** gzip: by node:zlib for responses of operations, by @fastify/compress for files. */
import { promisify } from "node:util";
import { gzip as gzipCallback, gzipSync } from "node:zlib";
import { Code, ConnectError } from "@connectrpc/connect";
import { compressionGzip } from "@connectrpc/connect-node";
import compress from "@fastify/compress";
import type { FastifyInstance } from "fastify";

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
