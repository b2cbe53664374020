import type { JsonValue } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { httpError, type RestError, toRestError } from "../errors.js";
import { bindingsOf } from "./http-rules.js";
import type { Operation } from "../operations.js";
import type { Query } from "../decoding/query.js";
import { type RequestReader, requestReader } from "../decoding/rest-request.js";
import { fastPath, type Handler, type ParseJson } from "../fast-path/rest-direct.js";
import { sendBody } from "../fast-path/send.js";

/**
 * Serves the operations at the paths of their google.api.http options. To be
 * registered as a plugin of its own: it reads bodies and tells errors in a way
 * that other routes should not get.
 */
export function rest(operations: readonly Operation[], bodyLimit: number, report: (defect: unknown) => void) {
  return async (server: FastifyInstance): Promise<void> => {
    const parseJson = acceptJson(server);
    server.setErrorHandler(async (error: FastifyError, request, reply) => {
      await send(reply, toError(error, pathOf(request), report));
    });
    for (const operation of operations) {
      for (const binding of bindingsOf(operation.method)) {
        const read = requestReader(operation.method.input, binding);
        const config = { operation: operation.name };
        const handler: Handler = (request, reply) => answer(operation, read, request, reply);
        server.route({
          method: binding.httpMethod,
          url: binding.path.route,
          config,
          ...(binding.hasBody && { onRequest: fastPath(handler, parseJson, bodyLimit) }),
          handler,
        });
      }
    }
  };
}

/** The path of the route that was found, or what was asked for, as the router reads it. */
export function pathOf({ routeOptions, url }: FastifyRequest): string {
  return routeOptions.url ?? url.replaceAll(/\/{2,}/g, "/");
}

/** Sends a REST error. */
export async function send(reply: FastifyReply, { status, headers, body }: RestError): Promise<void> {
  await reply.code(status).headers(headers).type("application/json").send(JSON.stringify(body));
}

function answer(
  { call, name }: Operation,
  read: RequestReader,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> | undefined {
  // The router gives texts, and acceptJson a JSON value, or undefined where there was no body.
  const parameters = request.params as Record<string, string | undefined>;
  const body = (request.body ?? {}) as JsonValue;
  request.record.operation = name;
  const found = call(read(parameters, body, request.query as Query));
  if (found instanceof Promise) return found.then((one) => sendBody(request, reply, "application/json", one.json()));
  sendBody(request, reply, "application/json", found.json());
  return undefined;
}

/** Reads JSON, without keys that would set a prototype, and nothing else; no body at all counts as an empty object, whatever its type is said to be. */
function acceptJson(server: FastifyInstance): ParseJson {
  const parseWhole = server.getDefaultJsonParser("remove", "ignore");
  const parseJson: ParseJson = (request, text, done) => {
    if ((request.headers["content-encoding"] ?? "identity") !== "identity") {
      done(Object.assign(new Error("the body has to come as it is, without content-encoding"), { statusCode: 415 }));
    } else if (text.trim() === "") done(null, {});
    else void parseWhole(request, text, done);
  };
  server.removeAllContentTypeParsers();
  server.addContentTypeParser("application/json", { parseAs: "string" }, parseJson);
  server.addContentTypeParser("*", { parseAs: "string" }, (_request, body: string, done) => {
    if (body === "") done(null, {});
    else done(Object.assign(new Error("the body has to be application/json"), { statusCode: 415 }));
  });
  return parseJson;
}

function toError(error: FastifyError, path: string, report: (defect: unknown) => void): RestError {
  if (error instanceof ConnectError) return toRestError(error, path);
  // What Fastify itself refuses carries its status: a body that is too large, or not JSON.
  const status = error.statusCode ?? 500;
  if (status >= 400 && status < 500) return httpError(status, error.message, path);
  report(error);
  return toRestError(new ConnectError("something went wrong here", Code.Internal), path);
}
