/** The oracle for responses: no response may report a fault of the server. */
import type { FuzzRequest } from "./request.js";
import type { ServiceResponse } from "./target.js";

/** unknown, internal, unavailable, data_loss: no request may cause them. */
const SERVER_FAULTS = new Set(["2", "13", "14", "15"]);

/** Messages of errors that Connect and gRPC prescribe for invalid framing; see docs/errors.md. */
const PROTOCOL_PRESCRIBED =
  /^(protocol error: )?received compressed envelope|^protocol error: |^unknown compression |^the message is compressed, but /;

/** connect-es has `internal` for a message that it cannot decode. */
const UNDECODABLE = /^parse binary: /;

const TIMEOUT_HEADERS = ["connect-timeout-ms", "grpc-timeout"];

export function findFault(request: FuzzRequest, response: ServiceResponse): string | undefined {
  return findStatusFault(request, response) ?? findGrpcFault(response);
}

function findStatusFault({ headers, path }: FuzzRequest, { status, body }: ServiceResponse): string | undefined {
  if (status >= 200 && status < 500) return undefined;
  if (status === 503 && path === "/readyz") return undefined;
  const { code, message = "" } = parseConnectError(body);
  if (status === 504 && code === "deadline_exceeded" && TIMEOUT_HEADERS.some((name) => name in headers)) {
    return undefined;
  }
  if (status === 500 && code === "internal" && UNDECODABLE.test(message)) return undefined;
  if (status === 501 && code === "unimplemented" && PROTOCOL_PRESCRIBED.test(message)) return undefined;
  return `status ${status}: ${body.toString("utf8", 0, 300)}`;
}

function parseConnectError(body: Buffer): { code?: string; message?: string } {
  try {
    return Object(JSON.parse(body.toString())) as object;
  } catch {
    return {};
  }
}

function findGrpcFault(response: ServiceResponse): string | undefined {
  const [code, message] = parseGrpcStatus(response);
  if (code === undefined || !SERVER_FAULTS.has(code) || (code === "13" && isExpected(message))) {
    return undefined;
  }
  return `grpc-status ${code}: ${message}`;
}

const isExpected = (message: string): boolean => PROTOCOL_PRESCRIBED.test(message) || UNDECODABLE.test(message);

/** From headers or trailers; for gRPC-Web also from the last message of the body. */
function parseGrpcStatus({ headers, body }: ServiceResponse): readonly [code: string | undefined, message: string] {
  const { "content-type": type = "", "grpc-status": status, "grpc-message": encodedMessage = "" } = headers;
  if (status !== undefined) return [status, decodePercent(encodedMessage)];
  if (!type.startsWith("application/grpc-web")) return [undefined, ""];
  const text = (type.includes("-text") ? Buffer.from(body.toString(), "base64") : body).toString("latin1");
  const message = /grpc-message: ?(.*)\r/i.exec(text)?.[1] ?? "";
  return [/grpc-status: ?(\d+)/i.exec(text)?.[1], decodePercent(message)];
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
