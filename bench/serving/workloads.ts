/** The requests of each measured row, and how a load sends them. */
import http2 from "node:http2";
import { acceptingGzip } from "../load/connection.js";
import { callUnary, loadGrpc } from "../load/grpc.js";
import { type LoadResult, loadHttp1 } from "../load/http1.js";
import { fetchBody } from "../load/single-request.js";
import {
  connectBinaryRequests,
  connectJsonRequests,
  cycle,
  grpcRequests,
  restAcceptRequests,
  restTransferRequests,
  RPC_PATH,
  settlementRequests,
} from "./requests.js";

export interface Workload {
  readonly requests: readonly Buffer[];
  readonly load: (url: string, seconds: number) => Promise<LoadResult>;
  readonly fetch: (url: string, request: Buffer) => Promise<Buffer>;
}

export const workloads = {
  restAccept: () => http1Workload(restAcceptRequests()),
  restTransfer: () => http1Workload(restTransferRequests()),
  connectJson: () => http1Workload(connectJsonRequests()),
  connectBinary: () => http1Workload(connectBinaryRequests()),
  grpc: () => grpcWorkload(grpcRequests()),
  settlement: () => http1Workload(settlementRequests()),
  restAcceptGzip: () => http1Workload(restAcceptRequests().map(acceptingGzip)),
  settlementGzip: () => http1Workload(settlementRequests().map(acceptingGzip)),
} as const;

function http1Workload(requests: readonly Buffer[]): Workload {
  const requestAt = cycle(requests);
  return { requests, load: (url, seconds) => loadHttp1(url, seconds, requestAt), fetch: fetchBody };
}

function grpcWorkload(requests: readonly Buffer[]): Workload {
  const requestAt = cycle(requests);
  return { requests, load: (url, seconds) => loadGrpc(url, seconds, RPC_PATH, requestAt), fetch: fetchMessage };
}

async function fetchMessage(url: string, request: Buffer): Promise<Buffer> {
  const session = http2.connect(url);
  try {
    return await callUnary(session, RPC_PATH, request);
  } finally {
    session.destroy();
  }
}

/** The responses to the first two requests (with and without debug fields) in base64, for a baseline server. */
export async function recordResponses(url: string, { requests, fetch: send }: Workload): Promise<string[]> {
  const bodies = await Promise.all(requests.slice(0, 2).map((request) => send(url, request)));
  return bodies.map((body) => body.toString("base64"));
}
