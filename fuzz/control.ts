/** Right requests on connections of their own, to see that others are served whatever one sends. */
import { operator } from "../demo/registry.js";
import { ask } from "./send/request.js";
import { Target } from "./send/target.js";

const reading = {
  version: 1,
  method: "GET",
  path: "/api/utilities/v0/operator",
  headers: {},
  body: Buffer.alloc(0),
} as const;

const calling = {
  version: 2,
  method: "POST",
  path: "/offledger.operator.v0.OperatorService/GetOperator",
  headers: { "content-type": "application/grpc+proto", te: "trailers" },
  body: Buffer.alloc(5),
} as const;

/** Asks who the operator is, by REST over HTTP/1.1 and by gRPC. Says what is wrong with the answers. */
export async function control({ host, port, limitMs }: Target): Promise<string | undefined> {
  const fresh = new Target(host, port, limitMs);
  try {
    const rest = await ask(fresh, reading, true);
    const grpc = await ask(fresh, calling, true);
    const [said, called] = [rest.body.toString(), grpc.body.subarray(5).toString()];
    if (rest.status !== 200 || !said.includes(`"${operator}"`)) return `control by REST: ${rest.status} ${said}`;
    if (grpc.headers["grpc-status"] === "0" && called.includes(operator)) return undefined;
    return `control by gRPC: ${grpc.status} grpc-status ${String(grpc.headers["grpc-status"])} ${called}`;
  } catch (error) {
    return `control: ${error instanceof Error ? error.message : String(error)}`;
  } finally {
    fresh.close();
  }
}
