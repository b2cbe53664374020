/** Valid requests on new connections, which check that the service still serves others. */
import { operator } from "../../demo/registry.js";
import { sendRequest } from "./send/request.js";
import { Target } from "./send/target.js";

const restRequest = {
  version: 1,
  method: "GET",
  path: "/api/utilities/v0/operator",
  headers: {},
  body: Buffer.alloc(0),
} as const;

const grpcRequest = {
  version: 2,
  method: "POST",
  path: "/offledger.operator.v0.OperatorService/GetOperator",
  headers: { "content-type": "application/grpc+proto", te: "trailers" },
  body: Buffer.alloc(5),
} as const;

/** Requests the operator by REST over HTTP/1.1 and by gRPC. Returns what is wrong with the responses, or undefined. */
export async function sendControlRequests({ host, port, limitMs }: Target): Promise<string | undefined> {
  const target = new Target(host, port, limitMs);
  try {
    const rest = await sendRequest(target, restRequest, true);
    const grpc = await sendRequest(target, grpcRequest, true);
    const [restBody, grpcMessage] = [rest.body.toString(), grpc.body.subarray(5).toString()];
    if (rest.status !== 200 || !restBody.includes(`"${operator}"`)) {
      return `control request by REST: ${rest.status} ${restBody}`;
    }
    if (grpc.headers["grpc-status"] === "0" && grpcMessage.includes(operator)) return undefined;
    return `control request by gRPC: ${grpc.status} grpc-status ${String(grpc.headers["grpc-status"])} ${grpcMessage}`;
  } catch (error) {
    return `control request: ${error instanceof Error ? error.message : String(error)}`;
  } finally {
    target.close();
  }
}
