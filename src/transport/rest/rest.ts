/** Serves the google.api.http paths: requests as messages, and errors in the form of REST. */
import {
  type DescField,
  type DescMessage,
  type JsonObject,
  type JsonValue,
  type Message,
  ScalarType,
} from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { FastifyError, FastifyInstance } from "fastify";
import { formatValue } from "../../domain/errors.js";
import { acceptJson } from "../bodies.js";
import { fromJsonValue } from "../decoding/decode.js";
import { isObject } from "../decoding/json.js";
import { plainJsonReader } from "../decoding/plain.js";
import { httpError, recordRefusal, rejection, type RestError, toRestError } from "../errors.js";
import type { Operation } from "../operations.js";
import { pathOf, sendRestError } from "../reject.js";
import { answer, httpCarrier } from "../send.js";
import { type Binding, servedBindings } from "./http-rules.js";
import type { Variable } from "./path-template.js";

const carrier = httpCarrier("json", "application/json");

/**
 * A plugin of its own: its body parsers and error handler are for REST only. `addStream` adds the route of the stream of
 * changes.
 */
export function rest(
  operations: readonly Operation[],
  maxBodyBytes: number,
  compresses: boolean,
  report: (defect: unknown) => void,
  rootRegistrar: string | undefined,
  addStream: ((scope: FastifyInstance) => void) | undefined,
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
    addStream?.(server);
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

type Parameters = Readonly<Record<string, string | undefined>>;

/**
 * Builds a request message from the body, or from the query where the rule has no body. Fields that the path names are
 * read from the path only. Throws invalid_argument if the body is not an object or a field has the wrong type.
 */
export type RequestReader = (parameters: Parameters, body: JsonValue, query?: Query) => Message;

export function requestReader(schema: DescMessage, { path: { variables }, hasBody }: Binding): RequestReader {
  const notOnRest = schema.fields.filter((field) => !isOnRest(field)).flatMap(({ jsonName, name }) => [jsonName, name]);
  const inPath = variables.map(({ fieldPath: [name, ...others] }) =>
    others.length > 0 ? undefined : schema.fields.find((field) => field.name === name && isText(field))?.localName,
  );
  const readPlain =
    hasBody && inPath.every((name) => name !== undefined) ? plainJsonReader(schema, inPath, notOnRest) : undefined;
  return (parameters, body, query = {}) => {
    if (readPlain !== undefined && isObject(body)) {
      const given: Record<string, string> = {};
      for (const [index, variable] of variables.entries()) given[inPath[index] ?? ""] = valueOf(variable, parameters);
      const message = readPlain(body, given);
      if (message !== undefined) return message;
    }
    const fields = hasBody ? { ...bodyObject(body) } : queryFields(schema, query);
    for (const name of notOnRest) if (fields[name] !== undefined) delete fields[name];
    for (const variable of variables) bind(fields, schema, variable.fieldPath, valueOf(variable, parameters));
    return fromJsonValue(schema, fields);
  };
}

/** The value of a variable, from the decoded parameters of the router. */
export function valueOf({ parts }: Variable, parameters: Parameters): string {
  const textOf = (part: Variable["parts"][number]) =>
    "literal" in part ? part.literal : (parameters[part.parameter] ?? "");
  const [only, second] = parts;
  return only !== undefined && second === undefined ? textOf(only) : parts.map(textOf).join("/");
}

const isText = (field: DescField): boolean => field.fieldKind === "scalar" && field.scalar === ScalarType.STRING;

/** Sets the field at the end of a path of fields, and replaces its present value. */
function bind(into: JsonObject, schema: DescMessage, fieldPath: readonly string[], value: string): void {
  const [name, ...others] = fieldPath;
  const field = schema.fields.find((known) => known.name === name);
  if (field === undefined) throw new Error(`${schema.typeName} has no field ${name}, named in a path template`);
  if (others.length === 0 || field.message === undefined) {
    if (field.name !== field.jsonName) delete into[field.name];
    into[field.jsonName] = value;
    return;
  }
  const given = into[field.jsonName] ?? into[field.name];
  const inner: JsonObject = given !== undefined && isObject(given) ? { ...given } : {};
  delete into[field.name];
  into[field.jsonName] = inner;
  bind(inner, field.message, others, value);
}

function bodyObject(body: JsonValue): JsonObject {
  if (isObject(body)) return body;
  throw rejection("MALFORMED_MESSAGE", `the body must be a JSON object, but is ${formatValue(body)}`);
}

/** A query as Fastify parses it: a repeated parameter is a list. */
export type Query = Readonly<Record<string, string | readonly string[]>>;

/**
 * The fields that a query names, by JSON or proto name, with dots between nested names. Unknown parameters are ignored.
 * Throws invalid_argument where a field that is not a list is given twice.
 */
export function queryFields(schema: DescMessage, query: Query): JsonObject {
  const fields: JsonObject = {};
  for (const [name, given] of Object.entries(query)) put(fields, schema, name.split("."), name, given);
  return fields;
}

function put(
  into: JsonObject,
  schema: DescMessage,
  [first, ...others]: readonly string[],
  name: string,
  given: string | readonly string[],
): void {
  const field = restFields(schema).find((known) => known.jsonName === first || known.name === first);
  if (field === undefined) return;
  const known = into[field.jsonName];
  if (field.fieldKind === "message" && others.length > 0) {
    const inner: JsonObject = typeof known === "object" && known !== null && !Array.isArray(known) ? known : {};
    into[field.jsonName] = inner;
    put(inner, field.message, others, name, given);
  } else if (others.length === 0) {
    into[field.jsonName] = parameterValue(field, name, known, given);
  }
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
