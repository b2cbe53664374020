import type { JsonValue } from "@bufbuild/protobuf";
import type { FastifyInstance, FastifyRequest } from "fastify";

/**
 * Makes a server accept JSON bodies alone, and returns the same parser for the fast path. `__proto__` keys are dropped.
 * An empty body counts as {}, whatever its content type: several HTTP clients send one with no body.
 */
export function acceptJson(server: FastifyInstance): (request: FastifyRequest, body: Buffer) => JsonValue {
  const parse = server.getDefaultJsonParser("remove", "ignore");
  server.removeAllContentTypeParsers();
  server.addContentTypeParser("application/json", { parseAs: "string" }, (request, body: string, done) => {
    if ((request.headers["content-encoding"] ?? "identity") !== "identity") {
      done(unsupported("the body must not have a content-encoding"));
    } else if (body.trim() === "") done(null, {});
    else void parse(request, body, done);
  });
  server.addContentTypeParser("*", { parseAs: "string" }, (_request, body: string, done) => {
    if (body === "") done(null, {});
    else done(unsupported("the body must be application/json"));
  });
  return (request, body) => {
    const text = body.toString();
    if (text.trim() === "") return {};
    let parsed: JsonValue = null;
    // The default parser calls back before it returns.
    void parse(request, text, (error, value) => {
      if (error !== null) throw error;
      parsed = value as JsonValue;
    });
    return parsed;
  };
}

const unsupported = (message: string): Error => Object.assign(new Error(message), { statusCode: 415 });
