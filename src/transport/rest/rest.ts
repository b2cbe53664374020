/** Serves the google.api.http paths: requests as messages, and errors in the form of REST. */
import { type DescField, type DescMessage, type Message, ScalarType } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { FastifyError, FastifyInstance } from "fastify";
import { formatValue } from "../../domain/errors.js";
import { isObject, type JsonObject, type JsonValue } from "../../util/json.js";
import { acceptJson } from "../bodies.js";
import { fromJsonValue } from "../decoding/decode.js";
import { httpError, recordRefusal, rejection, type RestError, toRestError } from "../errors.js";
import type { Rpc } from "../rpcs.js";
import { pathOf, sendRestError } from "../reject.js";
import { answer, httpCarrier } from "../send.js";
import { type Binding, servedBindings } from "./bindings.js";

const carrier = httpCarrier("json", "application/json");

interface RestOptions {
  readonly maxBodyBytes: number;
  /** Whether responses are compressed for clients that accept it. */
  readonly compresses: boolean;
  readonly rootRegistrar: (() => string) | undefined;
  readonly report: (defect: unknown) => void;
  /** Adds the route of the stream of changes. */
  readonly addStream: ((scope: FastifyInstance) => void) | undefined;
}

/** A plugin of its own: its body parsers and error handler are for REST only. */
export function rest(rpcs: readonly Rpc[], options: RestOptions) {
  const { maxBodyBytes, compresses, rootRegistrar, report, addStream } = options;
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
    addStream?.(server);
    for (const { rpc, binding, read } of restRoutes(rpcs, rootRegistrar)) {
      server.route({
        method: binding.httpMethod,
        url: binding.route,
        config: { operation: rpc.name },
        handler(request, reply) {
          // acceptJson gives a JSON value, which may be null; undefined where there was no body.
          const body = request.body === undefined ? {} : (request.body as JsonValue);
          const message = read(request.params as Parameters, body, request.query as Query);
          return answer({ rpc, request, reply, carrier, compresses }, message)?.then(() => reply);
        },
      });
    }
  };
}

export interface RestRoute {
  readonly rpc: Rpc;
  readonly binding: Binding;
  readonly read: RequestReader;
}

/** What REST serves, and explanations run. */
export const restRoutes = (rpcs: readonly Rpc[], rootRegistrar: (() => string) | undefined): RestRoute[] =>
  rpcs.flatMap((rpc) =>
    servedBindings(rpc.method, rootRegistrar).map((binding) => ({
      rpc,
      binding,
      read: requestReader(rpc.method.input, binding),
    })),
  );

const isUnavailable = (error: Error): boolean => error instanceof ConnectError && error.code === Code.Unavailable;

function toError(error: FastifyError, path: string, report: (defect: unknown) => void): RestError {
  if (error instanceof ConnectError) return toRestError(error, path);
  // Fastify's own refusals carry a status: a body that is too large, or not JSON.
  const status = error.statusCode ?? 500;
  if (status >= 400 && status < 500) return httpError(status, error.message, path);
  report(error);
  return toRestError(rejection("INTERNAL", "something went wrong here"), path);
}

type Parameters = Readonly<Record<string, string | undefined>>;

/**
 * Builds a request message from the body, or from the query where the rule has no body. Fields that the path names are
 * read from the path only. Throws invalid_argument if the body is not an object or a field has the wrong type.
 */
export type RequestReader = (parameters: Parameters, body: JsonValue, query?: Query) => Message;

export function requestReader(schema: DescMessage, { inPath, fixed, hasBody }: Binding): RequestReader {
  const notOnRest = schema.fields.filter((field) => !isOnRest(field)).flatMap(({ jsonName, name }) => [jsonName, name]);
  return (parameters, body, query = {}) => {
    const fields = hasBody ? { ...bodyObject(body) } : queryFields(schema, query);
    for (const name of notOnRest) if (fields[name] !== undefined) delete fields[name];
    for (const { name, jsonName } of inPath) {
      if (fields[name] !== undefined) delete fields[name];
      fields[jsonName] = fixed[name]?.() ?? parameters[name] ?? "";
    }
    return fromJsonValue(schema, fields);
  };
}

function bodyObject(body: JsonValue): JsonObject {
  if (isObject(body)) return body;
  throw rejection("MALFORMED_MESSAGE", `the body must be a JSON object, but is ${formatValue(body)}`);
}

/** A query as Fastify parses it: a repeated parameter is a list. */
export type Query = Readonly<Record<string, string | readonly string[]>>;

/**
 * The fields that a query names, by JSON or proto name. Unknown parameters are ignored. Throws invalid_argument where a
 * field that is not a list is given twice.
 */
export function queryFields(schema: DescMessage, query: Query): JsonObject {
  const fields: JsonObject = {};
  for (const [name, given] of Object.entries(query)) {
    const field = restFields(schema).find((known) => known.jsonName === name || known.name === name);
    if (field !== undefined) fields[field.jsonName] = parameterValue(field, name, fields[field.jsonName], given);
  }
  return fields;
}

function parameterValue(
  field: DescField,
  name: string,
  known: JsonValue | undefined,
  given: string | readonly string[],
): JsonValue {
  const values = (typeof given === "string" ? [given] : given).map((text) => scalar(field, name, text));
  if (field.fieldKind === "list") return Array.isArray(known) ? [...known, ...values] : values;
  const [value = "", ...more] = values;
  if (more.length > 0 || known !== undefined) {
    throw rejection("MALFORMED_MESSAGE", `the query parameter ${name} is given more than once`);
  }
  return value;
}

/** Booleans and int32 numbers become JSON values; every other parameter stays a string. */
function scalar(field: DescField, name: string, text: string): JsonValue {
  const type = field.fieldKind === "scalar" || field.fieldKind === "list" ? field.scalar : undefined;
  if (type === ScalarType.BOOL && (text === "true" || text === "false")) return text === "true";
  if (type !== ScalarType.INT32) return text;
  if (/^-?\d{1,15}$/.test(text)) return Number(text);
  throw rejection("MALFORMED_MESSAGE", `${name} must be an integer, but is ${formatValue(text)}`);
}

/**
 * Whether a field exists on REST. Members of a oneof do not: they are typed forms of a field that REST has as JSON, for
 * callers with generated code. In a REST body they count as unknown fields.
 */
export const isOnRest = (field: DescField): boolean => field.oneof === undefined;

export const restFields = (message: DescMessage): readonly DescField[] => message.fields.filter(isOnRest);
