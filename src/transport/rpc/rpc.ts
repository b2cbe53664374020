/** Connect, gRPC and gRPC-Web: unary calls by the fast path, streams by the handlers of connect-es. */
import { constants, type Http2ServerRequest } from "node:http2";
import {
  Code,
  ConnectError,
  createConnectRouter,
  createContextKey,
  createContextValues,
  type Interceptor,
} from "@connectrpc/connect";
import { createAsyncIterable, type UniversalHandler, type UniversalServerRequest } from "@connectrpc/connect/protocol";
import { universalRequestFromNodeRequest, universalResponseToNodeResponse } from "@connectrpc/connect-node";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { WatchService } from "../../../gen/offledger/watch/v1/watch_service_pb.js";
import { REQUEST_ID } from "../../telemetry/request-record.js";
import { readBody, tooManyBodies } from "../bodies.js";
import { MIN_COMPRESSED_BYTES, rpcGzip, varyByEncoding } from "../send.js";
import { JSON_WRITE_OPTIONS } from "../encoding/encoders.js";
import { outcomeOf, recordRefusal, rejection } from "../errors.js";
import { STREAM_UNITS } from "../limits.js";
import type { Rpc } from "../rpcs.js";
import { reject } from "../reject.js";
import { encodedOnce, type WatchCalls } from "../watch/watch-calls.js";
import { boundForGrpc, FRAME_HEADER_BYTES, sendRpcError } from "./errors.js";
import { protocolOf, rejectMediaType, servesContentType } from "./media-types.js";
import type { StandardServices } from "./standard-services.js";
import { MAX_DEADLINE_MS, timeoutOf, UNARY_TYPES, unaryRoutes } from "./unary.js";

/** Of the request of a stream: names, tags and numbers. */
const MAX_STREAM_MESSAGE_BYTES = 64 * 1024;
/** The largest value that connect-es allows. */
const NEVER_COMPRESS = 0xffffffff;

declare module "fastify" {
  interface FastifyContextConfig {
    /** What reads the requests of a stream. */
    stream?: UniversalHandler;
  }
}

interface RpcOptions {
  readonly operations: readonly Rpc[];
  readonly standard: StandardServices | undefined;
  readonly watch: WatchCalls | undefined;
  readonly maxBodyBytes: number;
  /** Whether responses are compressed for clients that accept it. */
  readonly compresses: boolean;
}

/** A plugin of its own: the protocols read bodies themselves, whatever their content type. */
export function rpc({ operations, standard, watch, maxBodyBytes, compresses }: RpcOptions) {
  return async (server: FastifyInstance): Promise<void> => {
    server.removeAllContentTypeParsers();
    server.addContentTypeParser("*", (_request, _payload, done) => done(null));
    // Before the body is read, and before Fastify refuses in its own form what is no content type at all.
    server.addHook("onRequest", (request, reply, done) => {
      const types = request.routeOptions.config.stream ?? UNARY_TYPES;
      const isServed = servesContentType(types, request.headers["content-type"]);
      if (request.method === "POST" && !isServed) rejectMediaType(request, reply, types);
      else done();
    });
    unaryRoutes(server, operations, { maxBodyBytes, compresses });
    const router = createConnectRouter({
      interceptors: [recordOutcome],
      jsonOptions: { ...JSON_WRITE_OPTIONS, ignoreUnknownFields: true },
      readMaxBytes: MAX_STREAM_MESSAGE_BYTES,
      acceptCompression: [rpcGzip],
      compressMinBytes: compresses ? MIN_COMPRESSED_BYTES : NEVER_COMPRESS,
    });
    standard?.register(router);
    if (watch !== undefined) {
      router.rpc(WatchService.method.watch, (request, { signal, requestHeader }) =>
        watch.call(request, signal, STREAM_UNITS.rpc, isJson(requestHeader) ? undefined : encodedOnce),
      );
    }
    for (const handler of router.handlers) {
      server.route({
        method: [...handler.allowedMethods],
        url: handler.requestPath,
        config: { operation: handler.requestPath.slice(1), isRpc: true, stream: handler },
        handler: (request, reply) => receive(handler, begin(request, reply, compresses)),
      });
    }
    server.addHook("preClose", (done) => {
      standard?.close();
      watch?.close();
      done();
    });
  };
}

const isJson = (header: Headers): boolean => header.get("content-type")?.includes("json") ?? false;

interface Call {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** Tells that connect-es no longer needs the body that it was given. */
  releaseBody: () => void;
}

const callKey = createContextKey<Call | undefined>(undefined, { description: "the call of Fastify" });

/** Prepares what a response of connect-es needs of us: Fastify neither sends it nor runs onSend. */
function begin(request: FastifyRequest, reply: FastifyReply, compresses: boolean): Call {
  const { record, raw } = request;
  record.protocol = protocolOf(request);
  // Unless the message is read: then recordOutcome has it.
  record.outcome = Code.InvalidArgument;
  reply.header(REQUEST_ID, record.requestId);
  if (compresses && record.protocol === "connect") reply.header("vary", varyByEncoding(reply.getHeader("vary")));
  // connect-es makes a timer of every deadline, and Node.js takes one that is too long for a millisecond.
  const { name, milliseconds } = timeoutOf(raw, record.protocol);
  if (milliseconds !== undefined && milliseconds > MAX_DEADLINE_MS) delete raw.headers[name];
  return { request, reply, releaseBody: () => undefined };
}

/**
 * Reads the body for connect-es, which would keep it chunk by chunk. It counts towards the budget for bodies until the
 * stream begins; a compressed one with the size that connect-es decompresses up to. A client that sends several messages
 * is read as it sends.
 */
function receive(handler: UniversalHandler, call: Call): void {
  const { request, reply } = call;
  let universal: UniversalServerRequest;
  try {
    const contextValues = createContextValues().set(callKey, call);
    universal = universalRequestFromNodeRequest(request.raw, reply.raw, undefined, contextValues);
  } catch {
    return reject(request, reply, rejection("MALFORMED_URL", "the Host header and the path are not a URL"));
  }
  if (handler.method.methodKind === "bidi_streaming") {
    endWithResponse(request);
    return respond(handler, call, universal);
  }
  const { bodies } = request.usage.budgets;
  const decompressed = isCompressed(request) ? MAX_STREAM_MESSAGE_BYTES : 0;
  readBody(request, MAX_STREAM_MESSAGE_BYTES, FRAME_HEADER_BYTES, (body) => {
    if (body instanceof ConnectError) return sendRpcError(request, reply, body);
    if (!bodies.tryTake(decompressed)) return sendRpcError(request, reply, tooManyBodies());
    const used = new Promise<void>((resolve) => (call.releaseBody = resolve));
    // A body that is no message never gets to the handler.
    reply.raw.once("close", () => call.releaseBody());
    respond(handler, call, { ...universal, body: createAsyncIterable(body.length > 0 ? [body] : []) });
    return used.then(() => bodies.release(decompressed));
  });
}

function respond(
  handler: UniversalHandler,
  { request: { record }, reply }: Call,
  request: UniversalServerRequest,
): void {
  const response = reply.raw;
  reply.hijack();
  for (const [name, value] of Object.entries(reply.getHeaders()))
    if (value !== undefined) response.setHeader(name, value);
  response.once("finish", () => {
    const { statusCode } = response;
    record.complete(statusCode === 200 ? record.outcome : outcomeOf(statusCode));
  });
  handler(request)
    .then((answered) => universalResponseToNodeResponse(answered, response))
    .catch((error: unknown) => {
      // Handlers answer their errors: this one is of the connection, most often of a client that is gone.
      record.complete(ConnectError.from(error).code);
      response.destroy();
    });
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

function isCompressed({ headers }: FastifyRequest): boolean {
  const names = ["content-encoding", "connect-content-encoding", "grpc-encoding"];
  return names.some((name) => (headers[name] ?? "identity") !== "identity");
}

/** Records the outcomes of streams, and their errors, which it makes fit the headers of gRPC. */
const recordOutcome: Interceptor = (next) => async (received) => {
  const call = received.contextValues.get(callKey);
  if (call === undefined) throw new Error("an rpc was called without its Fastify request");
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
