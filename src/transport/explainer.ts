// Runs a request as the public port does (the same operations, checks and encodings) and records how it is answered.
import { type JsonObject, type JsonValue, type Message, toJson } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { codeToString } from "@connectrpc/connect/protocol-connect";
import { BadRequestSchema, ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.js";
import { bodyOf, type StoredContract } from "../domain/contract.js";
import { type Cause, formatValue, invalidField, RegistryError } from "../domain/errors.js";
import { Recording } from "../registry/recorder.js";
import type { Explained, ExplainedCall, ExplainedContext, ExplainedRefusal, Explainer } from "../service/explain.js";
import type { ServiceBinding } from "../service/service-binding.js";
import { RefusedRequest } from "../telemetry/request-record.js";
import { fromJsonValue } from "./decoding/decode.js";
import type { ArgumentLimits } from "./decoding/validation.js";
import { type ContextResult, hasContext, JSON_WRITE_OPTIONS } from "./encoding/encoders.js";
import { type Operation, operations, type Report } from "./operations.js";
import { type Binding, servedBindings } from "./rest/http-rules.js";
import { type Query, requestReader } from "./rest/rest.js";

export interface ExplainerOptions {
  /** The services of the public port. */
  readonly bindings: readonly ServiceBinding[];
  readonly limits: ArgumentLimits;
  /** As in ServerOptions. */
  readonly rootRegistrar?: string | undefined;
  readonly report: Report;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export function createExplainer(options: ExplainerOptions): Explainer {
  const { bindings, limits, rootRegistrar, report, now } = options;
  const served = operations(bindings, report, limits);
  const findRest = restTargets(served, rootRegistrar);
  return {
    async explain(call, at = now()) {
      const { operation, request } = findRequest(served, findRest, call);
      const recording = new Recording(true, at);
      const outcome = await run(operation, request, recording);
      const { last } = recording;
      return {
        operation: operation.name,
        request: request instanceof ConnectError ? call.request : requestJson(operation, request),
        at,
        offset: last?.offset,
        validUntil: last?.validUntil,
        explanation: last?.explanation,
        ...outcome,
      };
    },
  };
}

interface FoundRequest {
  readonly operation: Operation;
  /** An error if the JSON is no request of the operation. */
  readonly request: Message | ConnectError;
}

/** Throws "invalid" if no operation has this name or path. */
function findRequest(
  served: readonly Operation[],
  findRest: FindRestTarget,
  { operation: name, request }: ExplainedCall,
): FoundRequest {
  const [, httpMethod, target] = /^([A-Z]+) (\/\S*)$/.exec(name) ?? [];
  if (httpMethod !== undefined && target !== undefined) {
    const found = findRest(httpMethod, target);
    if (found !== undefined) return { operation: found.operation, request: decoded(() => found.decode(request)) };
  }
  const operation = served.find((one) => one.name === name);
  if (operation === undefined) {
    const problem = `is ${formatValue(name)}, which is no operation: use the full name of an rpc, or method and path`;
    throw invalidField("call.operation", problem);
  }
  return { operation, request: decoded(() => fromJsonValue(operation.method.input, request)) };
}

function decoded(decode: () => Message): Message | ConnectError {
  try {
    return decode();
  } catch (error) {
    if (error instanceof ConnectError) return error;
    throw error;
  }
}

type Outcome = Pick<Explained, "answer" | "context" | "refusal">;

async function run(
  { call, takeBodies, encode, method }: Operation,
  request: Message | ConnectError,
  recording: Recording,
): Promise<Outcome> {
  try {
    if (request instanceof ConnectError) throw request;
    const called = await call(request, recording);
    const result = (await takeBodies(called, request))?.() ?? called;
    // The bytes that REST sends.
    const answer = JSON.parse(encode(result, request, "json").toBuffer().toString()) as JsonObject;
    const context = hasContext(method.output) ? contextOf(result.value as ContextResult) : undefined;
    return { answer, context, refusal: undefined };
  } catch (error) {
    if (!(error instanceof ConnectError)) throw error;
    return { answer: undefined, context: undefined, refusal: refusalOf(error) };
  }
}

/** With contracts that keep their bodies. */
const contextOf = (result: ContextResult): ExplainedContext => ({
  ...result,
  disclosed: result.disclosed.map((contract): StoredContract => ({ ...contract, body: bodyOf(contract) })),
  factoryId: result.factoryId,
});

const requestJson = ({ method }: Operation, request: Message): JsonObject =>
  // The JSON of a message that is not of a well-known type is an object.
  toJson(method.input, request, JSON_WRITE_OPTIONS) as JsonObject;

function refusalOf(error: ConnectError): ExplainedRefusal {
  const { rawMessage, code, cause } = error;
  const status = codeToString(code);
  if (cause instanceof RefusedRequest) return { status, error: cause.error };
  if (cause instanceof RegistryError) return { status, error: cause };
  return { status, error: new RegistryError("invalid", rawMessage, { causes: causesOfDetails(error) }) };
}

/** For refusals by the transport: malformed requests, and fields that violate a constraint. */
function causesOfDetails(error: ConnectError): readonly Cause[] {
  const [info] = error.findDetails(ErrorInfoSchema);
  const code = (info?.reason ?? codeToString(error.code)).toLowerCase().replaceAll("_", "-");
  const violations = error.findDetails(BadRequestSchema).flatMap(({ fieldViolations }) => fieldViolations);
  if (violations.length === 0) return [{ code, message: error.rawMessage }];
  return violations.map(({ field, description }) => ({ code, field, message: `${field} ${description}` }));
}

/** Finds the operation of a REST request by its method and path, as the router of the public port does. */

/** Decodes the request of a path that was found. Throws ConnectError. */
export interface RestTarget {
  readonly operation: Operation;
  readonly decode: (body: JsonObject) => Message;
}

interface Route {
  readonly operation: Operation;
  readonly binding: Binding;
  readonly pattern: RegExp;
  readonly read: (parameters: Record<string, string | undefined>, body: JsonValue, query: Query) => Message;
}

export type FindRestTarget = (httpMethod: string, target: string) => RestTarget | undefined;

function restTargets(served: readonly Operation[], rootRegistrar?: string): FindRestTarget {
  const routes = served.flatMap((operation) =>
    servedBindings(operation.method, rootRegistrar).map((binding): Route => ({
      operation,
      binding,
      pattern: patternOf(binding.path.route),
      read: requestReader(operation.method.input, binding),
    })),
  );
  return (httpMethod, target) => {
    const [path = "", query = ""] = target.split("?", 2);
    const wanted = path.replaceAll(/\/+/g, "/").replace(/(?<=.)\/$/, "");
    for (const { operation, binding, pattern, read } of routes) {
      const match = binding.httpMethod === httpMethod ? pattern.exec(wanted) : null;
      const parameters = match === null ? undefined : decodeAll(match.groups ?? {});
      if (parameters !== undefined)
        return { operation, decode: (body) => read(parameters, body, Object.fromEntries(new URLSearchParams(query))) };
    }
    return undefined;
  };
}

/** The path in the router's syntax (`:p0`, `*` at the end, `::` for a colon) as a regular expression. */
function patternOf(route: string): RegExp {
  const source = route.split("/").map((segment) => {
    if (segment === "*") return "(?<rest>.*)";
    if (/^:[^:]/.test(segment)) return `(?<${segment.slice(1)}>[^/]+)`;
    return segment.replaceAll("::", ":").replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  });
  return new RegExp(`^${source.join("/")}$`);
}

/** Undefined for an escape that is malformed. */
function decodeAll(groups: Record<string, string>): Record<string, string> | undefined {
  try {
    const values = Object.entries(groups).map(([name, value]) => [
      name === "rest" ? "*" : name,
      decodeURIComponent(value),
    ]);
    return Object.fromEntries(values) as Record<string, string>;
  } catch {
    return undefined;
  }
}
