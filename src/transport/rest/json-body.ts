import type { JsonValue } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { formatValue } from "../../domain/errors.js";
import { charsetProblem } from "../content-type.js";
import { parseJson } from "../decoding/json-text.js";
import { drainBody } from "../drain-body.js";
import { contentLength, messageTooLarge, readBody } from "../fast-path/read-body.js";

type Done = (error: Error | null, value?: JsonValue) => void;

/** The value of a REST body. A blank one counts as {}: several HTTP clients send one with no body. */
export function parseRestBody(body: Buffer): JsonValue {
  const value = parseJson(body);
  return value === undefined ? {} : value;
}

/** Makes a server accept JSON bodies in UTF-8 alone, and an empty body whatever its content type. */
export function acceptJson(server: FastifyInstance, maxBodyBytes: number): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser("application/json", (request, _payload, done) => {
    const { headers } = request;
    read(request, maxBodyBytes, done, (body) => {
      const problem = charsetProblem(headers["content-type"]);
      if ((headers["content-encoding"] ?? "identity") !== "identity") {
        done(unsupported("the body must not have a content-encoding"));
      } else if (problem !== undefined && body.length > 0) done(unsupported(problem));
      else parse(body, done);
    });
  });
  server.addContentTypeParser("*", (request, _payload, done) => {
    const contentType = request.headers["content-type"];
    const given = contentType === undefined ? "absent" : formatValue(contentType);
    read(request, maxBodyBytes, done, (body) => {
      if (body.length === 0) done(null, {});
      else done(unsupported(`the content-type must be application/json, but is ${given}`));
    });
  });
}

function read({ raw, usage }: FastifyRequest, limit: number, done: Done, use: (body: Buffer) => void): void {
  const expected = contentLength(raw);
  if (expected !== undefined && expected > limit) {
    void drainBody(raw);
    return done(toRestError(messageTooLarge(limit)));
  }
  readBody(raw, usage.budgets.bodies, { limit, expected }, (body) => {
    if (body === undefined) done(clientGone());
    else if (body instanceof ConnectError) done(toRestError(body));
    else use(body);
  });
}

function parse(body: Buffer, done: Done): void {
  let value: JsonValue;
  try {
    value = parseRestBody(body);
  } catch (error) {
    done(error as Error);
    return;
  }
  done(null, value);
}

/** REST has a status of its own for a body that is too large. */
const toRestError = (error: ConnectError): Error =>
  error.code === Code.ResourceExhausted ? Object.assign(new Error(error.rawMessage), { statusCode: 413 }) : error;
const unsupported = (message: string): Error => Object.assign(new Error(message), { statusCode: 415 });
/** Nobody reads the response. */
const clientGone = (): Error => Object.assign(new Error("the client is gone"), { statusCode: 400 });
