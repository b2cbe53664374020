import type { DescMessage } from "@bufbuild/protobuf";
import { createContextValues } from "@connectrpc/connect";
import { fastifyConnectPlugin } from "@connectrpc/connect-fastify";
import { compressionGzip } from "@connectrpc/connect-node";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { WatchService } from "../../../gen/offledger/watch/v1/watch_service_pb.js";
import { JSON_WRITE_OPTIONS } from "../encoding/encodable-response.js";
import { recordRefusal, rejection } from "../errors.js";
import type { Operation, Report } from "../operations.js";
import { protocolOf, reject } from "../reject.js";
import type { ServedMethods } from "../rest/no-route.js";
import { recordingFor } from "../validators.js";
import { encodedOnce, type WatchCalls } from "../watch/watch-calls.js";
import { adaptHandlers } from "./handler/adapt.js";
import { conditionalMessage } from "./handler/conditional-message.js";
import { connectCall } from "./handler/connect-call.js";
import { withDeadline } from "./handler/deadlines.js";
import { jsonDecoder } from "./json-decoder.js";
import { plainUnaryCalls } from "./plain-unary.js";
import type { StandardServices } from "./standard-services.js";

/** The largest value connect-es allows. It would compress errors too; adaptHandlers compresses the responses. */
const NEVER_COMPRESS = 0xffffffff;

/** connect-es reads `textDecoder` too, which its types leave out. */
const jsonOptions = (schema?: DescMessage) => ({
  ...JSON_WRITE_OPTIONS,
  ignoreUnknownFields: true,
  textDecoder: jsonDecoder(schema),
});

/**
 * Serves Connect, gRPC and gRPC-Web: plain unary requests on a short way, others (gRPC-Web, GET, compression,
 * deadlines, streams) by connect-fastify. Adds the paths to `served`. Register it as a plugin of its own: it changes
 * how bodies are parsed.
 */
export function connect(
  operations: readonly Operation[],
  standard: StandardServices | undefined,
  watch: WatchCalls | undefined,
  maxBodyBytes: number,
  compresses: boolean,
  report: Report,
  served: ServedMethods,
) {
  return async (server: FastifyInstance): Promise<void> => {
    // The protocols read the body themselves, whatever its content type.
    server.removeAllContentTypeParsers();
    server.addContentTypeParser("*", (_request, _payload, done) => done(null));
    server.addHook("onRoute", (route) => {
      route.config = { ...route.config, operation: route.url.slice(1), isRpc: true };
    });
    server.addHook("preHandler", plainUnaryCalls(operations, maxBodyBytes, compresses));
    server.addHook("preHandler", (request, reply, done) => {
      if (hasValidUrl(request)) beginCall(request, reply, done);
      else reject(request, reply, rejection("MALFORMED_URL", "the Host header and the path are not a URL"));
    });
    await server.register(fastifyConnectPlugin, {
      routes(router) {
        for (const { method, call } of operations) {
          const options = { jsonOptions: jsonOptions(method.input) };
          router.rpc(
            method,
            async (request, context) => {
              try {
                const raw = context.values.get(connectCall)?.request.raw;
                const recording = raw === undefined ? undefined : recordingFor(raw);
                const response = await withDeadline(call(request, recording), context.signal);
                return conditionalMessage(response, context, recording);
              } catch (error) {
                recordRefusal(context.values.get(connectCall)?.request.record, error);
                throw error;
              }
            },
            options,
          );
        }
        standard?.register(router);
        if (watch !== undefined) {
          const { method } = WatchService;
          const options = { jsonOptions: jsonOptions(method.watch.input), readMaxBytes: maxBodyBytes };
          router.rpc(
            method.watch,
            (request, { signal, requestHeader }) =>
              watch.call(request, signal, isJson(requestHeader) ? undefined : encodedOnce),
            options,
          );
        }
        adaptHandlers(router, { maxBodyBytes, compresses, report });
        for (const { requestPath, allowedMethods } of router.handlers) served.addRpc(requestPath, allowedMethods);
      },
      contextValues: ({ connectCall: call }) => createContextValues().set(connectCall, call),
      jsonOptions: jsonOptions(),
      readMaxBytes: maxBodyBytes,
      acceptCompression: [compressionGzip],
      compressMinBytes: NEVER_COMPRESS,
    });
    server.addHook("preClose", (done) => {
      standard?.close();
      watch?.close();
      done();
    });
  };
}

const isJson = (header: Headers): boolean => header.get("content-type")?.includes("json") ?? false;

/** connect-fastify builds a URL of the request, and leaves a request unanswered where that fails. */
function hasValidUrl({ raw }: FastifyRequest): boolean {
  const authority = raw.headers[":authority"] ?? raw.headers.host;
  return authority !== undefined && URL.canParse(raw.url ?? "", `http://${String(authority)}`);
}

function beginCall(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  const { record } = request;
  record.operation = request.routeOptions.config.operation ?? "";
  record.protocol = protocolOf(request);
  request.connectCall = { request, reply };
  done();
}
