import { acceptJson } from "../bodies.js";
import { httpError, recordRefusal, rejection, type RestError, toRestError } from "../errors.js";
import type { Operation } from "../operations.js";
import { pathOf, sendRestError } from "../reject.js";
import { answer, httpCarrier } from "../send.js";
import { serverSentEvents } from "../watch/server-sent-events.js";
import type { WatchCalls } from "../watch/watch-calls.js";
import { servedBindings } from "./http-rules.js";
import { type Query, requestReader } from "./rest-request.js";
import type { JsonValue } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { FastifyError, FastifyInstance } from "fastify";

const carrier = httpCarrier("json", "application/json");

/** Serves the google.api.http paths. A plugin of its own: its body parsers and error handler are for REST only. */
export function rest(
  operations: readonly Operation[],
  maxBodyBytes: number,
  compresses: boolean,
  report: (defect: unknown) => void,
  watch: WatchCalls | undefined,
  rootRegistrar: string | undefined,
) {
  return async (server: FastifyInstance): Promise<void> => {
    acceptJson(server, maxBodyBytes);
    server.setErrorHandler(async (error: FastifyError, request, reply) => {
      recordRefusal(request.record, error);
      // Fastify says "close" after an error of the body. HTTP/2 has no such header; and a connection whose body is not read
      // would close at once, before its client has seen the response.
      const { complete, httpVersionMajor } = request.raw;
      if (httpVersionMajor === 2 || (isUnavailable(error) && !complete)) reply.removeHeader("connection");
      await sendRestError(reply, toError(error, pathOf(request), report));
    });
    if (watch !== undefined) serverSentEvents(server, watch);
    for (const operation of operations) {
      for (const binding of servedBindings(operation.method, rootRegistrar)) {
        const read = requestReader(operation.method.input, binding);
        server.route({
          method: binding.httpMethod,
          url: binding.path.route,
          config: { operation: operation.name },
          handler(request, reply) {
            // acceptJson gives a JSON value, which may be null; undefined where there was no body.
            const body = request.body === undefined ? {} : (request.body as JsonValue);
            const { params, query } = request;
            const message = read(params as Record<string, string | undefined>, body, query as Query);
            return answer({ operation, request, reply, carrier, compresses }, message)?.then(() => reply);
          },
        });
      }
    }
  };
}

const isUnavailable = (error: Error): boolean => error instanceof ConnectError && error.code === Code.Unavailable;

function toError(error: FastifyError, path: string, report: (defect: unknown) => void): RestError {
  if (error instanceof ConnectError) return toRestError(error, path);
  // Fastify's own refusals carry a status: a body that is too large, or not JSON.
  const status = error.statusCode ?? 500;
  if (status >= 400 && status < 500) return httpError(status, error.message, path);
  report(error);
  return toRestError(rejection("INTERNAL", "something went wrong here"), path);
}
