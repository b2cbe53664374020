/** Connect, gRPC and gRPC-Web: unary calls by routes of ours, streams by connect-fastify. */
import { constants, type Http2ServerRequest } from "node:http2";
import { Code, ConnectError, createContextKey, createContextValues, type Interceptor } from "@connectrpc/connect";
import { createAsyncIterable, type UniversalHandler } from "@connectrpc/connect/protocol";
import { fastifyConnectPlugin } from "@connectrpc/connect-fastify";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { WatchService } from "../../../gen/offledger/watch/v1/watch_service_pb.js";
import { REQUEST_ID } from "../../telemetry/request-record.js";
import { readBody, tooManyBodies } from "../bodies.js";
import { MIN_COMPRESSED_BYTES, rpcGzip } from "../compress.js";
import { JSON_WRITE_OPTIONS } from "../encoding/encoders.js";
import { outcomeOf, recordRefusal, rejection } from "../errors.js";
import { STREAM_UNITS } from "../limits.js";
import type { Operation } from "../operations.js";
import { protocolOf, reject } from "../reject.js";
import { varyByEncoding } from "../send.js";
import type { ServedMethods } from "../rest/no-route.js";
import { encodedOnce, type WatchCalls } from "../watch/watch-calls.js";
import { boundForGrpc, FRAME_HEADER_BYTES, sendRpcError } from "./errors.js";
import { rejectMediaType, servesContentType } from "./media-type.js";
import type { StandardServices } from "./standard-services.js";
import { UNARY_TYPES, unaryRoutes } from "./unary.js";

/** The longest timer of Node.js: a longer one fires at once. */
const MAX_DEADLINE_MS = 2 ** 31 - 1;
/** Of the request of a stream: names, tags and numbers. */
const MAX_STREAM_MESSAGE_BYTES = 64 * 1024;
/** The largest value that connect-es allows. */
const NEVER_COMPRESS = 0xffffffff;

/** A call that connect-fastify serves. */
interface Call {
  readonly request: FastifyRequest;
  /** Tells that connect-es no longer needs the body that it was given. */
  releaseBody: () => void;
}

declare module "fastify" {
  interface FastifyRequest {
    rpcCall: Call | undefined;
  }
}

const callKey = createContextKey<Call | undefined>(undefined, { description: "the call of Fastify" });

function callOf(values: { get: (key: typeof callKey) => Call | undefined }): Call {
  const call = values.get(callKey);
  if (call === undefined) throw new Error("an rpc was called without its Fastify request");
  return call;
}

/** Adds the paths to `served`. Register it as a plugin of its own: it changes how bodies are parsed. */
export function rpc(
  operations: readonly Operation[],
  standard: StandardServices | undefined,
  watch: WatchCalls | undefined,
  maxBodyBytes: number,
  compresses: boolean,
  served: ServedMethods,
) {
  return async (server: FastifyInstance): Promise<void> => {
    // The protocols read the body themselves, whatever its content type.
    server.removeAllContentTypeParsers();
    server.addContentTypeParser("*", (_request, _payload, done) => done(null));
    const handlers = new Map<string, UniversalHandler>();
    // Before the body is read, and before Fastify refuses in its own form what is no content type at all.
    server.addHook("onRequest", (request, reply, done) => {
      const types = handlers.get(request.record.operation) ?? UNARY_TYPES;
      const isServed = servesContentType(types, request.headers["content-type"]);
      if (request.method === "POST" && !isServed) rejectMediaType(request, reply, types);
      else done();
    });
    unaryRoutes(server, operations, served, { maxBodyBytes, compresses });
    await server.register(streams(handlers, standard, watch, compresses, served));
    server.addHook("preClose", (done) => {
      standard?.close();
      watch?.close();
      done();
    });
  };
}

/** Adds the handlers of connect-es to `handlers`, by the names of their operations. */
function streams(
  handlers: Map<string, UniversalHandler>,
  standard: StandardServices | undefined,
  watch: WatchCalls | undefined,
  compresses: boolean,
  served: ServedMethods,
) {
  return async (server: FastifyInstance): Promise<void> => {
    server.addHook("onRoute", (route) => {
      const operation = route.url.slice(1);
      const { allowedMethods } = handlers.get(operation) ?? {};
      // connect-fastify takes every method, and refuses the others without `Allow`.
      if (allowedMethods !== undefined) route.method = [...allowedMethods];
      route.config = { ...route.config, operation, isRpc: true };
    });
    server.decorateRequest("rpcCall");
    server.addHook("preHandler", (request, reply, done) => {
      boundDeadline(request.raw);
      const call = begin(request, reply, compresses);
      const kind = handlers.get(request.record.operation)?.method.methodKind;
      if (!hasValidUrl(request)) {
        reject(request, reply, rejection("MALFORMED_URL", "the Host header and the path are not a URL"));
      } else if (kind === "bidi_streaming") {
        endWithResponse(request);
        done();
      } else receive(call, reply, MAX_STREAM_MESSAGE_BYTES, done);
    });
    await server.register(fastifyConnectPlugin, {
      routes(router) {
        standard?.register(router);
        if (watch !== undefined) {
          router.rpc(WatchService.method.watch, (request, { signal, requestHeader }) =>
            watch.call(request, signal, STREAM_UNITS.rpc, isJson(requestHeader) ? undefined : encodedOnce),
          );
        }
        for (const handler of router.handlers) {
          handlers.set(handler.requestPath.slice(1), handler);
          served.addRpc(handler.requestPath, handler.allowedMethods);
        }
      },
      contextValues: ({ rpcCall }) => createContextValues().set(callKey, rpcCall),
      interceptors: [recordOutcome],
      jsonOptions: { ...JSON_WRITE_OPTIONS, ignoreUnknownFields: true },
      readMaxBytes: MAX_STREAM_MESSAGE_BYTES,
      acceptCompression: [rpcGzip],
      compressMinBytes: compresses ? MIN_COMPRESSED_BYTES : NEVER_COMPRESS,
    });
  };
}

const isJson = (header: Headers): boolean => header.get("content-type")?.includes("json") ?? false;

/** connect-fastify makes a URL of the request, and sends an empty response where that fails. */
function hasValidUrl({ raw }: FastifyRequest): boolean {
  const authority = raw.headers[":authority"] ?? raw.headers.host;
  return authority !== undefined && URL.canParse(raw.url ?? "", `http://${String(authority)}`);
}

/** connect-es makes a timer of every deadline, and Node.js takes one that is too long for a millisecond. */
function boundDeadline({ headers }: FastifyRequest["raw"]): void {
  if (Number(headers["connect-timeout-ms"]) > MAX_DEADLINE_MS) headers["connect-timeout-ms"] = String(MAX_DEADLINE_MS);
  const [, number = "", unit = ""] = /^(\d{1,8})([HMS])$/.exec(String(headers["grpc-timeout"])) ?? [];
  const seconds = Number(number) * (unit === "H" ? 3_600 : unit === "M" ? 60 : 1);
  if (seconds * 1_000 > MAX_DEADLINE_MS) headers["grpc-timeout"] = `${Math.floor(MAX_DEADLINE_MS / 1_000)}S`;
}

/** Prepares what the response of connect-fastify, for which onSend does not run, needs of us. */
function begin(request: FastifyRequest, reply: FastifyReply, compresses: boolean): Call {
  const { record } = request;
  record.protocol = protocolOf(request);
  // Unless the message is read: then recordOutcome has it.
  record.outcome = Code.InvalidArgument;
  // connect-fastify copies the headers of the reply.
  reply.header(REQUEST_ID, record.requestId);
  if (compresses && record.protocol === "connect") reply.header("vary", varyByEncoding(reply.getHeader("vary")));
  reply.raw.once("finish", () => {
    const { statusCode } = reply.raw;
    record.complete(statusCode === 200 ? record.outcome : outcomeOf(statusCode));
  });
  return (request.rpcCall = { request, releaseBody: () => undefined });
}

/** gRPC asks for a reset where the client still sends after its response; Node.js leaves the stream open. */
function endWithResponse({ raw }: FastifyRequest): void {
  const { stream } = raw as unknown as Partial<Http2ServerRequest>;
  stream?.once("wantTrailers", () =>
    // After the listener that sends the trailers.
    setImmediate(() => {
      stream.close(constants.NGHTTP2_NO_ERROR);
      // With unread bytes it would stay.
      stream.resume();
    }),
  );
}

/**
 * Reads the body for connect-es, which would keep it chunk by chunk. It counts towards the budget for bodies until the
 * stream begins; a compressed one with the size that connect-es decompresses up to.
 */
function receive(call: Call, reply: FastifyReply, maxBytes: number, done: () => void): void {
  const { request } = call;
  const { bodies } = request.usage.budgets;
  const decompressed = isCompressed(request) ? maxBytes : 0;
  if (!bodies.tryTake(decompressed)) return reject(request, reply, tooManyBodies());
  readBody(request, maxBytes, FRAME_HEADER_BYTES, (body) => {
    if (Buffer.isBuffer(body)) {
      const used = new Promise<void>((resolve) => (call.releaseBody = resolve));
      // A body that is no message never gets to the handler.
      reply.raw.once("close", () => call.releaseBody());
      request.body = createAsyncIterable(body.length > 0 ? [body] : []);
      done();
      return used.then(() => bodies.release(decompressed));
    }
    bodies.release(decompressed);
    if (body === undefined) {
      reply.hijack();
      request.record.complete(Code.Canceled);
    } else sendRpcError(request, reply, body);
    return undefined;
  });
}

function isCompressed({ headers }: FastifyRequest): boolean {
  const names = ["content-encoding", "connect-content-encoding", "grpc-encoding"];
  return names.some((name) => (headers[name] ?? "identity") !== "identity");
}

/** Records the outcomes of streams, and their errors, which it makes fit the headers of gRPC. */
const recordOutcome: Interceptor = (next) => async (received) => {
  const call = callOf(received.contextValues);
  const { record, usage } = call.request;
  const failed = (error: unknown): unknown => {
    record.outcome = ConnectError.from(error).code;
    recordRefusal(record, error);
    return error instanceof ConnectError && record.protocol !== "connect" ? boundForGrpc(error) : error;
  };
  async function* untilFailed<T>(messages: AsyncIterable<T>): AsyncGenerator<T> {
    try {
      yield* messages;
    } catch (error) {
      throw failed(error);
    }
  }
  call.releaseBody();
  usage.becomeStream();
  try {
    const response = await next(received);
    record.outcome = 0;
    return response.stream ? { ...response, message: untilFailed(response.message) } : response;
  } catch (error) {
    throw failed(error);
  }
};
