import {
  createAsyncIterable,
  type UniversalHandler,
  type UniversalServerRequest,
  type UniversalServerResponse,
} from "@connectrpc/connect/protocol";
import { formatValue } from "../../../domain/errors.js";
import { charsetProblem, mediaTypeOf } from "../../content-type.js";
import { connectErrorBody } from "../send-error.js";
import { queryProblem } from "./get-query.js";

const UNARY_TYPES = ["application/json", "application/proto"];
const STREAM_TYPES = ["application/connect+json", "application/connect+proto"];
const GRPC_TYPES = ["application/grpc", "application/grpc+proto", "application/grpc+json"];
const GRPC_WEB_TYPES = ["application/grpc-web", "application/grpc-web+proto", "application/grpc-web+json"];

type Served = Pick<UniversalHandler, "method" | "allowedMethods">;

/** Content types that a POST to an rpc may have. */
const contentTypes = ({ method }: Served): string[] => [
  ...(method.methodKind === "unary" ? UNARY_TYPES : STREAM_TYPES),
  ...GRPC_TYPES,
  ...GRPC_WEB_TYPES,
];

/** Refuses a Connect GET without the query that connect-es needs; undefined for any other request. */
export function refuseQuery(served: Served, { method, header, url }: UniversalServerRequest) {
  if (method !== "GET" || !served.allowedMethods.includes("GET") || header.has("content-type")) return undefined;
  const problem = queryProblem(url);
  return problem === undefined ? undefined : refusal(400, problem);
}

/** Adds to a refusal by connect-es, which has a status only, what the client did wrong and what it can do. */
export function explainRefusal(
  served: Served,
  request: UniversalServerRequest,
  response: UniversalServerResponse,
): UniversalServerResponse {
  if (response.body !== undefined) return response;
  const { method, header, httpVersion } = request;
  switch (response.status) {
    case 405: {
      const allowed = served.allowedMethods.toSorted();
      const path = new URL(request.url).pathname;
      const problem = `the method of ${path} must be ${allowed.join(" or ")}, but is ${method}`;
      return refusal(405, problem, { allow: allowed.join(", ") });
    }
    case 415: {
      const types = contentTypes(served);
      const contentType = header.get("content-type");
      const isConnectGet = method === "GET" && contentType === null;
      const problem = isConnectGet ? encodingProblem(request.url) : contentTypeProblem(types, contentType, method);
      return refusal(415, problem, { "accept-post": types.join(", ") });
    }
    case 505:
      return refusal(505, `this stream needs HTTP/2, but the request came over HTTP/${httpVersion}`, response.header);
    default:
      return response;
  }
}

function encodingProblem(url: string): string {
  const encoding = new URL(url).searchParams.get("encoding") ?? "";
  return `the query parameter encoding must be json or proto, but is ${formatValue(encoding)}`;
}

function contentTypeProblem(types: readonly string[], contentType: string | null, method: string): string {
  const given = contentType === null ? "absent" : formatValue(contentType);
  if (method === "GET") return `a GET must have no content-type of gRPC, but has ${given}`;
  const charset = types.includes(mediaTypeOf(contentType ?? "")) ? charsetProblem(contentType ?? "") : undefined;
  if (charset !== undefined) return charset;
  const [json = ""] = types;
  const served = types.join(", ");
  return `the content-type must be one of ${served}, but is ${given}; for JSON add the header "content-type: ${json}"`;
}

function refusal(
  status: number,
  message: string,
  more: ConstructorParameters<typeof Headers>[0] = {},
): UniversalServerResponse {
  const bytes = connectErrorBody(status, message);
  const header = new Headers(more);
  header.set("content-type", "application/json");
  header.set("content-length", String(bytes.length));
  return { status, header, body: createAsyncIterable([bytes]) };
}
