import type { Recording } from "../../registry/recorder.js";
import { acceptJson } from "../bodies.js";
import { compressResponses, varyByEncoding } from "../compress.js";
import { bufferOf } from "../encoding/chunks.js";
import type { EncodableResponse } from "../encoding/encodable-response.js";
import { httpError, recordRefusal, rejection, type RestError, toRestError } from "../errors.js";
import type { Operation } from "../operations.js";
import { pathOf, sendRestError } from "../reject.js";
import { cacheControl, GENERATION, NOT_MODIFIED, recordingFor, shortForm, validatorsOf } from "../validators.js";
import { serverSentEvents } from "../watch/server-sent-events.js";
import type { WatchCalls } from "../watch/watch-calls.js";
import { servedBindings } from "./http-rules.js";
import { type Query, requestReader } from "./rest-request.js";
import type { JsonValue, Message } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

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
    if (compresses) await compressResponses(server);
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
      const respond = (request: FastifyRequest, reply: FastifyReply, message: Message) => {
        const recording = recordingFor(request.raw);
        const send = (response: EncodableResponse) => sendRest(request, reply, response, recording, compresses);
        // Stays synchronous where the operation is: a promise costs more than the query.
        const response = operation.call(message, recording);
        return response instanceof Promise ? response.then(send).then(() => reply) : send(response);
      };
      for (const binding of servedBindings(operation.method, rootRegistrar)) {
        const read = requestReader(operation.method.input, binding);
        const decode = (request: FastifyRequest, body: JsonValue) =>
          read(request.params as Record<string, string | undefined>, body, request.query as Query);
        server.route({
          method: binding.httpMethod,
          url: binding.path.route,
          config: { operation: operation.name },
          handler(request, reply) {
            request.record.operation = operation.name;
            // acceptJson gives a JSON value, which may be null; undefined where there was no body.
            const body = request.body === undefined ? {} : (request.body as JsonValue);
            return respond(request, reply, decode(request, body));
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

/** Sends the response of an operation by Fastify's reply. */

/** Sends the response of REST, which @fastify/compress may compress. Throws if it cannot be encoded. */
export function sendRest(
  request: FastifyRequest,
  reply: FastifyReply,
  response: EncodableResponse,
  recording: Recording | undefined,
  compresses: boolean,
): void {
  const validators = validatorsOf(response, recording);
  const short = shortForm(request.raw, validators);
  reply.headers(validators);
  if (request.method === "GET" && GENERATION in validators)
    reply.header("cache-control", cacheControl(short === "empty"));
  if (compresses) reply.header("vary", varyByEncoding(reply.getHeader("vary")));
  request.record.isNotModified = short !== undefined;
  if (short === "304") {
    void reply.code(304).send();
    return;
  }
  if (short === "empty") reply.header(NOT_MODIFIED, "true");
  void reply.header("content-type", "application/json").send(short === "empty" ? "{}" : bufferOf(response.json()));
}
