import { Code, ConnectError, type ConnectRouter } from "@connectrpc/connect";
import type { UniversalHandler, UniversalServerRequest, UniversalServerResponse } from "@connectrpc/connect/protocol";
import { REQUEST_ID } from "../../../telemetry/request-ids.js";
import { drainBody } from "../../bodies.js";
import type { Report } from "../../operations.js";
import { compressConnect, compressGrpc } from "./compress-response.js";
import { conditionalGet } from "./conditional-message.js";
import { type ConnectCall, connectCall } from "./connect-call.js";
import { normalizeContentType } from "./content-type.js";
import { limitDeadline } from "./deadlines.js";
import { drainAfterResponse } from "./drain-after-response.js";
import { withCorrectedEnd, withCorrectedErrors } from "./error-response.js";
import { outcomeOfResponse } from "./outcome.js";
import { explainRefusal, refuseQuery } from "./refusals.js";
import { receivedBody } from "./received-body.js";
import { sendTrailersOnly } from "./trailers-only.js";
import { unencodableErrorResponse } from "./unencodable-error.js";
import { bytesOf, withBody } from "./universal-response.js";

type UniversalCall = (request: UniversalServerRequest) => Promise<UniversalServerResponse>;

const NO_BYTES = Buffer.alloc(0);
/** Thrown where connect-fastify has nothing more to send. Aborted is the only code that it does not print. */
const ENDED = new ConnectError("the call has been ended", Code.Aborted);

export interface AdaptOptions {
  readonly maxBodyBytes: number;
  readonly compresses: boolean;
  readonly report: Report;
}

/** Wraps the handlers of a router with what the service adds to connect-es. */
export function adaptHandlers({ handlers }: ConnectRouter, options: AdaptOptions): void {
  for (const [index, handler] of handlers.entries()) handlers[index] = adapt(handler, options);
}

function adapt(handler: UniversalHandler, options: AdaptOptions): UniversalHandler {
  const isUnary = handler.method.methodKind === "unary";
  const library: UniversalCall = isUnary ? withCorrectedErrors(handler) : handler;
  const handle: UniversalCall = async (request) =>
    refuseQuery(handler, request) ?? explainRefusal(handler, request, await library(request));
  const adapted = async (request: UniversalServerRequest): Promise<UniversalServerResponse> => {
    const call = request.contextValues?.get(connectCall);
    if (call === undefined) throw new Error(`${handler.requestPath} was called without its Fastify request`);
    // connect-fastify writes to the raw response, so Fastify must not send one.
    call.reply.hijack();
    // connect-fastify copies the headers of the reply.
    call.reply.header(REQUEST_ID, call.request.record.requestId);
    limitDeadline(request.header);
    normalizeContentType(request);
    try {
      return isUnary ? await unary(handle, request, call, options) : await streaming(handle, request, call);
    } catch (error) {
      if (error === ENDED) throw error;
      const response = error instanceof URIError ? unencodableErrorResponse(request.header) : undefined;
      if (response !== undefined) {
        if (sendTrailersOnly(call, response, NO_BYTES)) throw ENDED;
        call.request.record.complete(Code.InvalidArgument);
        return response;
      }
      fail(error, call, handler.requestPath.slice(1), options.report);
      throw ENDED;
    }
  };
  return Object.assign(adapted, propertiesOf(handler));
}

/** Collects the whole response, so that errors of the library show before anything is sent. */
async function unary(
  handle: UniversalCall,
  request: UniversalServerRequest,
  call: ConnectCall,
  { maxBodyBytes, compresses }: AdaptOptions,
): Promise<UniversalServerResponse> {
  const { raw, record } = call.request;
  let finish: (() => void) | undefined;
  const used = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const response = await handle({ ...request, body: receivedBody(call.request, maxBodyBytes, used) }).finally(() =>
    finish?.(),
  );
  const isConnect = record.protocol === "connect";
  const bytes = isConnect ? NO_BYTES : await bytesOf(response);
  // connect-es does not read a body that it refuses by its headers. Node.js forgets an HTTP/2 stream after its
  // trailers, and a client that still sends would wait forever.
  if (!isConnect) await drainBody(raw);
  else if (response.status !== 200) void drainBody(raw);
  if (sendTrailersOnly(call, response, bytes)) throw ENDED;
  call.request.usage.holdResponse(bytes.length || Number(response.header?.get("content-length") ?? 0));
  recordOutcome(call, response, bytes);
  if (!isConnect) return compresses ? compressGrpc(response, bytes, call) : withBody(response, bytes);
  const conditional = conditionalGet(response, call);
  return compresses ? compressConnect(conditional, call) : conditional;
}

async function streaming(
  handle: UniversalCall,
  request: UniversalServerRequest,
  call: ConnectCall,
): Promise<UniversalServerResponse> {
  const { raw, record } = call.request;
  // Chunks of a raw body are bytes.
  const body = raw.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>;
  const response = await handle({ ...request, body });
  if (response.status === 200) call.request.usage.becomeStream();
  drainAfterResponse(call);
  recordOutcome(call, response, NO_BYTES);
  return withCorrectedEnd(response, (code) => record.complete(code));
}

/** Trailers are complete once the response has been sent. `bytes` is the whole body: gRPC-Web trailers are in it. */
function recordOutcome(
  { request: { record }, reply }: ConnectCall,
  response: UniversalServerResponse,
  bytes: Buffer,
): void {
  // connect-fastify's promise cannot signal the end: over HTTP/1.1 it never resolves.
  reply.raw.once("finish", () => record.complete(outcomeOfResponse(response, record.protocol, bytes)));
}

function fail(error: unknown, { request, reply }: ConnectCall, rpc: string, report: Report): void {
  request.record.complete(Code.Canceled);
  // Aborted: the client is gone.
  if (ConnectError.from(error).code !== Code.Aborted) report(error, rpc);
  reply.raw.destroy();
}

/** The properties by which connect-es and its adapters route a handler. */
function propertiesOf({
  protocolNames,
  service,
  method,
  requestPath,
  allowedMethods,
  supportedContentType,
}: UniversalHandler) {
  return { protocolNames, service, method, requestPath, allowedMethods, supportedContentType };
}
