import { buffer } from "node:stream/consumers";
import { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import { acceptsGzip, GZIP } from "./accept-encoding.js";
import { MIN_COMPRESSED_BYTES } from "./compress.js";
import { gzipInThread } from "./gzip.js";
import { varyByEncoding } from "./vary.js";

/** There are fewer files; one file may have several paths. */
const MAX_FILES = 32;

interface File {
  readonly bytes: Buffer;
  readonly isCompressed: boolean;
}

/** Creates an onSend hook for routes that serve constant files. Each is read and compressed once, by its path. */
export function compressFiles() {
  const files = new Map<string, Promise<File>>();
  return async (request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown> => {
    if (reply.statusCode !== 200) return payload;
    reply.header("vary", varyByEncoding(reply.getHeader("vary")));
    const path = request.url.split("?", 1)[0] ?? "";
    if (!acceptsGzip(request.headers["accept-encoding"]) || !isContent(payload)) return payload;
    let file = files.get(path);
    if (file === undefined) {
      if (files.size >= MAX_FILES) return payload;
      file = readFile(payload);
      files.set(path, file);
      file.catch(() => files.delete(path));
    } else if (payload instanceof Readable) payload.destroy();
    const { bytes, isCompressed } = await file;
    // A range would be one of the uncompressed file.
    if (isCompressed) reply.removeHeader("accept-ranges").header("content-encoding", GZIP);
    reply.header("content-length", bytes.length);
    return bytes;
  };
}

const isContent = (payload: unknown): payload is Readable | string | Buffer =>
  payload instanceof Readable || typeof payload === "string" || Buffer.isBuffer(payload);

async function readFile(payload: Readable | string | Buffer): Promise<File> {
  const content = payload instanceof Readable ? await buffer(payload) : Buffer.from(payload as string);
  const compressed = content.length < MIN_COMPRESSED_BYTES ? content : await gzipInThread(content);
  const isCompressed = compressed.length < content.length;
  return { bytes: isCompressed ? compressed : content, isCompressed };
}
