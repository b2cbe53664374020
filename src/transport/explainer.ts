/** Runs a request as the public port does (the same routes, operations, checks and encodings) and records how it is answered. */
import { type JsonObject, type Message, toJson } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { codeToString } from "@connectrpc/connect/protocol-connect";
import { BadRequestSchema, ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.js";
import { bodyOf, type StoredContract } from "../domain/contract.js";
import { type Cause, formatValue, invalidField, RegistryError } from "../domain/errors.js";
import { Recording } from "../service/recorder.js";
import type { Explained, ExplainedCall, ExplainedContext, ExplainedRefusal, Explainer } from "../service/explain.js";
import type { ServiceBinding } from "../service/service-binding.js";
import { RefusedRequest } from "../telemetry/request-record.js";
import { fromJsonValue } from "./decoding/decode.js";
import type { ArgumentLimits } from "./decoding/validation.js";
import { toBuffer } from "./encoding/disclosed-contract.js";
import { type EncodedResult, hasContext, JSON_WRITE_OPTIONS } from "./encoding/encoders.js";
import { type Rpc, rpcs, type Report } from "./rpcs.js";
import { type RestRoute, restRoutes } from "./rest/rest.js";
import { RouteTable } from "./rest/routes.js";

export interface ExplainerOptions {
  /** The services of the public port. */
  readonly bindings: readonly ServiceBinding[];
  readonly limits: ArgumentLimits;
  /** As in ServerOptions. */
  readonly rootRegistrar?: (() => string) | undefined;
  readonly report: Report;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export function createExplainer(options: ExplainerOptions): Explainer {
  const { bindings, limits, rootRegistrar, report, now } = options;
  const served = rpcs(bindings, report, limits);
  const routes = new RouteTable<RestRoute>();
  for (const route of restRoutes(served, rootRegistrar))
    routes.add(route.binding.httpMethod, route.binding.route, route);
  return {
    async explain(call, at = now()) {
      const { rpc, read } = findRequest(served, routes, call);
      const recording = new Recording(true, at);
      let { request } = call;
      let outcome: Pick<Explained, "answer" | "context" | "refusal">;
      try {
        const message = read();
        // The JSON of a message that is not of a well-known type is an object.
        request = toJson(rpc.method.input, message, JSON_WRITE_OPTIONS) as JsonObject;
        outcome = { ...(await answer(rpc, message, recording)), refusal: undefined };
      } catch (error) {
        if (!(error instanceof ConnectError)) throw error;
        outcome = { answer: undefined, context: undefined, refusal: refusalOf(error) };
      }
      const { last } = recording;
      return {
        operation: rpc.name,
        request,
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
  readonly rpc: Rpc;
  /** Throws ConnectError if the JSON is no request of the operation. */
  readonly read: () => Message;
}

/** Throws "invalid" if no operation has this name or path. */
function findRequest(
  served: readonly Rpc[],
  routes: RouteTable<RestRoute>,
  { operation: name, request }: ExplainedCall,
): FoundRequest {
  const [, httpMethod = "", url] = /^([A-Z]+) (\/\S*)$/.exec(name) ?? [];
  const found = url === undefined ? undefined : routes.find(url);
  const route = found?.byMethod.get(httpMethod);
  if (found !== undefined && route !== undefined)
    return { rpc: route.rpc, read: () => route.read(found.params, request, found.query) };
  const rpc = served.find((one) => one.name === name);
  if (rpc === undefined) {
    const problem = `is ${formatValue(name)}, which is no operation: use the full name of an rpc, or method and path`;
    throw invalidField("call.operation", problem);
  }
  return { rpc, read: () => fromJsonValue(rpc.method.input, request) };
}

async function answer({ call, takeBodies, encode, method }: Rpc, request: Message, recording: Recording) {
  const called = await call(request, recording);
  const result = (await takeBodies(called, request))?.() ?? called;
  return {
    // The bytes that REST sends.
    answer: JSON.parse(toBuffer(encode(result, request, "json")).toString()) as JsonObject,
    context: hasContext(method.output) ? contextOf(result.value as EncodedResult) : undefined,
  };
}

/** With contracts that keep their bodies. */
const contextOf = (result: EncodedResult): ExplainedContext => ({
  ...result,
  disclosed: result.disclosed.map((contract): StoredContract => ({ ...contract, body: bodyOf(contract) })),
  factoryId: result.factoryId,
});

function refusalOf(error: ConnectError): ExplainedRefusal {
  const { rawMessage, code, cause } = error;
  const status = codeToString(code);
  if (cause instanceof RefusedRequest) return { status, error: cause.error };
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
