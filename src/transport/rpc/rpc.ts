/** Connect, gRPC and gRPC-Web: plain unary calls on a short way, all others by connect-fastify. */
import { constants, type Http2ServerRequest } from "node:http2";
import { Code, ConnectError, createContextKey, createContextValues, type Interceptor } from "@connectrpc/connect";
import { createAsyncIterable, type UniversalHandler, type UniversalServerResponse } from "@connectrpc/connect/protocol";
import { fastifyConnectPlugin } from "@connectrpc/connect-fastify";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { WatchService } from "../../../gen/offledger/watch/v1/watch_service_pb.js";
import { REQUEST_ID } from "../../telemetry/request-record.js";
import { readBody, tooManyBodies } from "../bodies.js";
import { decompressedCheck, MIN_COMPRESSED_BYTES, rpcGzip, varyByEncoding } from "../compress.js";
import { checkFieldCount } from "../decoding/field-count.js";
import { outcomeOf, recordRefusal, rejection } from "../errors.js";
import { STREAM_UNITS, type Usage } from "../limits.js";
import type { Operation } from "../operations.js";
import { rejectMediaType, servesContentType } from "./media-type.js";
import { protocolOf, reject } from "../reject.js";
import type { ServedMethods } from "../rest/no-route.js";
import { recordingFor } from "../validators.js";
import { encodedOnce, type WatchCalls } from "../watch/watch-calls.js";
import { conditionalGet, conditionalMessage } from "./conditional-message.js";
import { boundForGrpc, sendRpcError } from "./errors.js";
import { jsonOptions } from "./json.js";
import { FRAME_HEADER_BYTES, onlyMessage, plainUnaryCalls } from "./plain-unary.js";
import type { StandardServices } from "./standard-services.js";

/** The longest timer of Node.js: a longer one fires at once. */
const MAX_DEADLINE_MS = 2 ** 31 - 1;
/** The largest value that connect-es allows. */
const NEVER_COMPRESS = 0xffffffff;

/** A call that connect-fastify serves. */
interface Call {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** Tells that connect-es no longer needs the body that it was given. */
  releaseBody: () => void;
  /** Why a unary operation failed. */
  error: ConnectError | undefined;
}

declare module "fastify" {
  interface FastifyRequest {
    rpcCall: Call | undefined;
  }
}

const callKey = createContextKey<Call | undefined>(undefined, { description: "the call of Fastify" });

function callOf(values: { get: (key: typeof callKey) => Call | undefined } | undefined): Call {
  const call = values?.get(callKey);
  if (call === undefined) throw new Error("an rpc was called without its Fastify request");
  return call;
}

/** Thrown where the response is sent by Fastify: connect-fastify takes it for a client that is gone. */
const SENT = new ConnectError("the response is sent", Code.Aborted);

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
    server.addHook("onRoute", (route) => {
      const { allowedMethods } = handlers.get(route.url) ?? {};
      // connect-fastify takes every method, and refuses the others without `Allow`.
      if (allowedMethods !== undefined) route.method = [...allowedMethods];
      route.config = { ...route.config, operation: route.url.slice(1), isRpc: true };
    });
    // Before the body is read, and before Fastify refuses in its own form what is no content type at all.
    server.addHook("onRequest", (request, reply, done) => {
      const handler = handlers.get(request.routeOptions.url ?? "");
      const isServed = handler === undefined || servesContentType(handler, request.headers["content-type"]);
      if (request.method === "POST" && !isServed) rejectMediaType(request, reply, handler);
      else done();
    });
    server.decorateRequest("rpcCall");
    server.addHook("preHandler", plainUnaryCalls(operations, maxBodyBytes, compresses));
    server.addHook("preHandler", (request, reply, done) => {
      boundDeadline(request.raw);
      const call = begin(request, reply, compresses);
      const handler = handlers.get(request.routeOptions.url ?? "");
      if (!hasValidUrl(request)) {
        reject(request, reply, rejection("MALFORMED_URL", "the Host header and the path are not a URL"));
      } else if (handler?.method.methodKind === "bidi_streaming") {
        endWithResponse(request);
        done();
      } else if (request.method === "GET") done();
      else receive(call, handler, maxBodyBytes, done);
    });
    await server.register(fastifyConnectPlugin, {
      routes(router) {
        for (const { method, call } of operations) {
          router.rpc(
            method,
            async (message, context) => {
              const { request } = callOf(context.values);
              const recording = recordingFor(request.raw);
              const result = call(message, recording);
              const response = result instanceof Promise ? await untilAborted(result, context.signal) : result;
              return conditionalMessage(response, context, request, recording);
            },
            { jsonOptions: jsonOptions(method.input) },
          );
        }
        standard?.register(router);
        if (watch !== undefined) {
          const { method } = WatchService;
          router.rpc(
            method.watch,
            (request, { signal, requestHeader }) =>
              watch.call(request, signal, STREAM_UNITS.rpc, isJson(requestHeader) ? undefined : encodedOnce),
            { jsonOptions: jsonOptions(method.watch.input), readMaxBytes: maxBodyBytes },
          );
        }
        for (const [index, handler] of router.handlers.entries()) {
          handlers.set(handler.requestPath, handler);
          served.addRpc(handler.requestPath, handler.allowedMethods);
          router.handlers[index] = adapted(handler);
        }
      },
      contextValues: ({ rpcCall }) => createContextValues().set(callKey, rpcCall),
      interceptors: [recordOutcome],
      readMaxBytes: maxBodyBytes,
      acceptCompression: [rpcGzip],
      compressMinBytes: compresses ? MIN_COMPRESSED_BYTES : NEVER_COMPRESS,
    });
    server.addHook("preClose", (done) => {
      standard?.close();
      watch?.close();
      done();
    });
  };
}

/** connect-es leaves deadlines to its handlers. The work itself goes on. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, fail) => {
    const onAbort = () => fail(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    work.then(resolve, fail);
  });
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
  record.operation = request.routeOptions.config.operation ?? "";
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
  return (request.rpcCall = { request, reply, releaseBody: () => undefined, error: undefined });
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
 * handler has its response; a compressed one with the size that connect-es decompresses up to.
 */
function receive(call: Call, handler: UniversalHandler | undefined, maxBytes: number, done: () => void): void {
  const { request, reply } = call;
  const { bodies } = request.usage.budgets;
  const decompressed = isCompressed(request) ? maxBytes : 0;
  if (!bodies.tryTake(decompressed)) return reject(request, reply, tooManyBodies());
  readBody(request, maxBytes, FRAME_HEADER_BYTES, (received) => {
    const body = Buffer.isBuffer(received) ? checked(request, handler, received) : received;
    if (Buffer.isBuffer(body)) {
      const used = new Promise<void>((resolve) => (call.releaseBody = resolve));
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

/** The body, or why connect-es must not decode it, which it would do with each of several messages. */
function checked(
  { headers }: FastifyRequest,
  handler: UniversalHandler | undefined,
  body: Buffer,
): Buffer | ConnectError {
  const { "content-type": type = "" } = headers;
  // Another type is not decoded.
  if (handler?.supportedContentType(type) !== true) return body;
  try {
    const message = /^application\/(?:grpc|connect\+)/.test(type) ? onlyMessage(body) : body;
    // One that is compressed is checked once it no longer is; its bytes are no fields, or few.
    if (!type.includes("json")) checkFieldCount(handler.method.input, message);
    return body;
  } catch (error) {
    return ConnectError.from(error);
  }
}

function isCompressed({ headers }: FastifyRequest): boolean {
  const names = ["content-encoding", "connect-content-encoding", "grpc-encoding"];
  return names.some((name) => (headers[name] ?? "identity") !== "identity");
}

/**
 * Wraps a handler: counts the bytes of a unary response until it is sent, and sends the error of an operation as the short
 * way does; connect-es would send two HEADERS frames, after which clients of gRPC do not retry.
 */
function adapted(handler: UniversalHandler): UniversalHandler {
  const isUnary = handler.method.methodKind === "unary";
  const adaptedHandler: (...args: Parameters<UniversalHandler>) => ReturnType<UniversalHandler> = async (received) => {
    const call = callOf(received.contextValues);
    const { request, reply } = call;
    const { input } = handler.method;
    const isBinary = !isJson(received.header);
    const check = (message: Uint8Array) => isBinary && checkFieldCount(input, message);
    const response = await decompressedCheck.run(check, () => handler(received)).finally(() => call.releaseBody());
    if (response.status === 415) {
      rejectMediaType(request, reply, handler);
      await reply;
      throw SENT;
    }
    if (!isUnary) return response;
    // gRPC-Web has its errors in the body.
    if (call.error === undefined || request.record.protocol === "grpc-web") {
      return held(conditionalGet(response, request), request.usage);
    }
    sendRpcError(request, reply, call.error);
    // Otherwise Fastify would send the undefined result of the handler.
    await reply;
    throw SENT;
  };
  const { protocolNames, service, method, requestPath, allowedMethods, supportedContentType } = handler;
  const properties = { protocolNames, service, method, requestPath, allowedMethods, supportedContentType };
  return Object.assign(adaptedHandler, properties);
}

function held(response: UniversalServerResponse, usage: Usage): UniversalServerResponse {
  const { body } = response;
  return body === undefined ? response : { ...response, body: heldBytes(body, usage) };
}

async function* heldBytes(body: AsyncIterable<Uint8Array>, usage: Usage): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    usage.holdResponse(chunk.length);
    yield chunk;
  }
}

/** Records the outcomes of calls, and their errors, which it makes fit the headers of gRPC. */
const recordOutcome: Interceptor = (next) => async (received) => {
  const call = callOf(received.contextValues);
  const { record, usage } = call.request;
  const failed = (error: unknown): unknown => {
    record.outcome = ConnectError.from(error).code;
    recordRefusal(record, error);
    if (!(error instanceof ConnectError)) return error;
    if (!received.stream) call.error = error;
    return record.protocol === "connect" ? error : boundForGrpc(error);
  };
  async function* untilFailed<T>(messages: AsyncIterable<T>): AsyncGenerator<T> {
    try {
      yield* messages;
    } catch (error) {
      throw failed(error);
    }
  }
  if (received.stream) usage.becomeStream();
  try {
    const response = await next(received);
    record.outcome = 0;
    return response.stream ? { ...response, message: untilFailed(response.message) } : response;
  } catch (error) {
    throw failed(error);
  }
};
