import type { JsonValue } from "@bufbuild/protobuf";
import type { FastifyInstance } from "fastify";
import { formatValue } from "../../domain/errors.js";
import { charsetProblem } from "../content-type.js";
import { parseJson } from "../decoding/json-text.js";

/** The value of a REST body. A blank one counts as {}: several HTTP clients send one with no body. */
export function parseRestBody(body: Buffer): JsonValue {
  const value = parseJson(body);
  return value === undefined ? {} : value;
}

/** Makes a server accept JSON bodies in UTF-8 alone, and an empty body whatever its content type. */
export function acceptJson(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser("application/json", { parseAs: "buffer" }, ({ headers }, body: Buffer, done) => {
    const problem = charsetProblem(headers["content-type"]);
    if ((headers["content-encoding"] ?? "identity") !== "identity") {
      done(unsupported("the body must not have a content-encoding"));
    } else if (problem !== undefined && body.length > 0) done(unsupported(problem));
    else parse(body, done);
  });
  server.addContentTypeParser("*", { parseAs: "buffer" }, ({ headers }, body: Buffer, done) => {
    const contentType = headers["content-type"];
    const given = contentType === undefined ? "absent" : formatValue(contentType);
    if (body.length === 0) done(null, {});
    else done(unsupported(`the content-type must be application/json, but is ${given}`));
  });
}

function parse(body: Buffer, done: (error: Error | null, value?: JsonValue) => void): void {
  let value: JsonValue;
  try {
    value = parseRestBody(body);
  } catch (error) {
    done(error as Error);
    return;
  }
  done(null, value);
}

const unsupported = (message: string): Error => Object.assign(new Error(message), { statusCode: 415 });
