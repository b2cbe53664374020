import type { JsonValue } from "@bufbuild/protobuf";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { formatValue } from "../../domain/errors.js";

/**
 * Makes a server accept JSON bodies in UTF-8 alone, and returns the same parser for the fast path. `__proto__` keys are dropped.
 * An empty body counts as {}, whatever its content type: several HTTP clients send one with no body.
 */
export function acceptJson(server: FastifyInstance): (request: FastifyRequest, body: Buffer) => JsonValue {
  const parse = server.getDefaultJsonParser("remove", "ignore");
  server.removeAllContentTypeParsers();
  server.addContentTypeParser("application/json", { parseAs: "string" }, (request, body: string, done) => {
    const charset = charsetOf(request);
    if ((request.headers["content-encoding"] ?? "identity") !== "identity") {
      done(unsupported("the body must not have a content-encoding"));
    } else if (body.trim() === "") done(null, {});
    else if (!/^utf-?8$/i.test(charset)) {
      done(unsupported(`the charset of the body must be utf-8, but is ${formatValue(charset)}`));
    } else void parse(request, body, done);
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

/** JSON is UTF-8 unless a parameter of the content type says otherwise. */
function charsetOf({ headers }: FastifyRequest): string {
  const [, charset = "utf-8"] = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(headers["content-type"] ?? "") ?? [];
  return charset;
}

const unsupported = (message: string): Error => Object.assign(new Error(message), { statusCode: 415 });
