/** Reads the bodies of requests: whole, within the limit of a message and the budget of all bodies. */
import { type IncomingHttpHeaders, IncomingMessage } from "node:http";
import { constants, Http2ServerRequest } from "node:http2";
import type { JsonValue } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { formatValue } from "../domain/errors.js";
import { parseJson } from "./decoding/decode.js";
import { rejection } from "./errors.js";
import type { Budget } from "./limits.js";

/** The first capacity of a body whose length is not known. */
const MIN_BYTES = 4 * 1024;

/** Collects one body. Costs at most twice its bytes, however small its chunks are, all taken from the budget. */
export class BodyBuffer {
  readonly #maxBytes: number;
  readonly #expected: number | undefined;
  #buffer: Buffer = Buffer.alloc(0);
  #length = 0;
  #taken = 0;

  constructor(
    private readonly budget: Budget,
    /** In bytes; `expected` is the content-length, if there is one. */
    { limit, expected }: { readonly limit: number; readonly expected: number | undefined },
  ) {
    this.#expected = expected;
    this.#maxBytes = Math.min(limit, budget.limit);
  }

  get length(): number {
    return this.#length;
  }

  /** The body so far, without a copy. */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  /** Takes a chunk, with which the body must not exceed its limit. False, without taking it, if the budget is used up. */
  add(chunk: Buffer): boolean {
    const length = this.#length + chunk.length;
    if (length > this.#buffer.length && !this.#grow(length)) return false;
    chunk.copy(this.#buffer, this.#length);
    this.#length = length;
    return true;
  }

  release(): void {
    this.budget.release(this.#taken);
    this.#taken = 0;
  }

  #grow(length: number): boolean {
    const doubled = Math.max(MIN_BYTES, 2 * this.#buffer.length);
    const capacity = Math.max(length, Math.min(doubled, this.#expected ?? this.#maxBytes, this.#maxBytes));
    if (!this.budget.tryTake(capacity - this.#taken)) return false;
    this.#taken = capacity;
    const grown = Buffer.allocUnsafe(capacity);
    this.#buffer.copy(grown, 0, 0, this.#length);
    this.#buffer = grown;
    return true;
  }
}

/**
 * Calls `use` with the body, or resource_exhausted beyond the limit, or unavailable beyond the budget; not if the client
 * leaves before. The body counts towards the budget until `use` returns, or its promise settles, which must not reject.
 * `prefixBytes` are what the protocol puts before the message.
 */
export function readBody(
  { raw, usage }: FastifyRequest,
  maxMessageBytes: number,
  prefixBytes: number,
  use: (body: Buffer | ConnectError) => void | Promise<void>,
): void {
  // The client may have left while an asynchronous hook ran; no event follows then.
  if (raw.destroyed) return;
  const limit = maxMessageBytes + prefixBytes;
  const body = new BodyBuffer(usage.budgets.bodies, { limit, expected: contentLength(raw) });
  const release = () => body.release();
  const stop = () => raw.off("data", onData).off("end", onEnd).off("close", release);
  const onData = (chunk: Buffer) => {
    if (body.length + chunk.length > limit) {
      stop();
      release();
      void drainBody(raw).then(() => use(messageTooLarge(maxMessageBytes)));
    } else if (!body.add(chunk)) {
      stop();
      release();
      abandonBody(raw);
      void use(tooManyBodies());
    }
  };
  const onEnd = () => {
    stop();
    // A reset HTTP/2 stream emits "end" like a complete one.
    if (isHttp2(raw) ? raw.stream.closed : raw.socket.destroyed) return release();
    const used = use(body.bytes);
    if (used === undefined) release();
    else void used.finally(release);
  };
  // "close" follows an error.
  raw
    .on("data", onData)
    .on("end", onEnd)
    .on("close", release)
    .on("error", () => undefined);
}

const messageTooLarge = (limit: number): ConnectError =>
  rejection("BODY_TOO_LARGE", `the message is larger than ${limit} bytes, the limit of this service`);

export const tooManyBodies = (): ConnectError =>
  rejection("OVERLOADED", "too many large requests are being received; retry later");

function contentLength({ headers }: IncomingMessage): number | undefined {
  const length = Number(headers["content-length"]);
  return length >= 0 ? length : undefined;
}

/** The class that Fastify names, or over HTTP/2 the one that is behind it. */
const isHttp2 = (request: object): request is Http2ServerRequest => request instanceof Http2ServerRequest;

/** Bytes that are read to keep a connection usable; past them the connection, or the stream, is closed. */
const MAX_DRAINED_BYTES = 16 * 1024 * 1024;

/** How long a client that still sends may read its response. */
const LINGER_MS = 2_000;
/** What is read of a request that finds no memory, to keep its connection. */
const SMALL_BYTES = 64 * 1024;

/**
 * Leaves the rest of a request unread, for a service that has no memory for it: to drop it would cost as much as to keep it,
 * until it is collected. The connection of HTTP/1.1 closes after its response; a stream is reset, which says that a retry is
 * safe. A small body is dropped.
 */
export function abandonBody(request: IncomingMessage): void {
  const expected = contentLength(request) ?? (request.headers["transfer-encoding"] === undefined ? 0 : Infinity);
  if (expected <= SMALL_BYTES) void drainBody(request);
  else if (!request.readableEnded && !request.destroyed) stopReading(request);
}

function stopReading(request: IncomingMessage): void {
  if (isHttp2(request)) {
    request.stream.close(constants.NGHTTP2_REFUSED_STREAM);
    return;
  }
  const { socket } = request;
  request.pause();
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once("close", () => clearTimeout(timer));
}

/** Drops the rest of a request: unread bytes block HTTP/1.1 and fill HTTP/2 session memory. Resolves at any end. */
export function drainBody(request: IncomingMessage): Promise<void> {
  if (request.readableEnded || request.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    let drained = 0;
    request.on("end", resolve).on("close", resolve).on("error", resolve);
    request.on("data", (chunk: Buffer) => {
      drained += chunk.length;
      if (drained <= MAX_DRAINED_BYTES) return;
      if (isHttp2(request)) request.stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
      else request.destroy();
    });
    request.resume();
  });
}

/** Makes a server accept JSON bodies in UTF-8 alone, and an empty body whatever its content type. */
export function acceptJson(server: FastifyInstance, maxBodyBytes: number): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser("*", (request, _payload, done) => {
    if ((contentLength(request.raw) ?? 0) > maxBodyBytes) {
      void drainBody(request.raw);
      return done(messageTooLarge(maxBodyBytes));
    }
    readBody(request, maxBodyBytes, 0, (body) => {
      const value = body instanceof ConnectError ? body : parseRestBody(request.headers, body);
      if (value instanceof Error) done(value);
      else done(null, value);
    });
  });
}

/** A blank body counts as {}: several HTTP clients send one with no body. */
function parseRestBody(headers: IncomingHttpHeaders, body: Buffer): JsonValue | Error {
  const problem = body.length === 0 ? undefined : encodingProblem(headers);
  if (problem !== undefined) return Object.assign(new Error(problem), { statusCode: 415 });
  try {
    const value = parseJson(body);
    return value === undefined ? {} : value;
  } catch (error) {
    return error as Error;
  }
}

function encodingProblem(headers: IncomingHttpHeaders): string | undefined {
  const { "content-type": type = "", "content-encoding": coding = "identity" } = headers;
  if (!/^application\/json\s*(?:;|$)/i.test(type))
    return `the content-type must be application/json, but is ${type === "" ? "absent" : formatValue(type)}`;
  if (coding !== "identity") return "the body must not have a content-encoding";
  const [, charset = "utf-8"] = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(type) ?? [];
  return /^utf-?8$/i.test(charset)
    ? undefined
    : `the charset of the body must be utf-8, but is ${formatValue(charset)}`;
}
