/** One guarded operation over every protocol, with an Authorization header or without. */
import http2 from "node:http2";
import { createClient, ConnectError, Code, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { HealthService } from "../../../gen/offledger/health/v1/health_service_pb.js";

/** What a client sees: a code of its protocol, and the challenge. */
export interface Seen {
  /** "ok", or the code by its number in Connect and gRPC. */
  readonly code: Code | "ok";
  readonly message: string;
  readonly challenge: string | null;
}

export type GuardedCall = (url: string, authorization?: string) => Promise<Seen>;

const OK: Seen = { code: "ok", message: "", challenge: null };
/** The values of grpc-status that are expected. */
const grpcCodes: Readonly<Record<string, Code>> = { "7": Code.PermissionDenied, "16": Code.Unauthenticated };

/** HTTP statuses of REST as codes. */
const restCodes: Readonly<Record<number, Code>> = {
  401: Code.Unauthenticated,
  403: Code.PermissionDenied,
};

export const guardedCalls: Readonly<Record<string, GuardedCall>> = {
  REST: async (url, authorization) => {
    const response = await fetch(`${url}/livez`, authorization === undefined ? {} : { headers: { authorization } });
    const body = (await response.json()) as { readonly status?: string; readonly error?: string };
    if (response.ok && body.status === "ok") return OK;
    const code = restCodes[response.status];
    if (code === undefined) throw new Error(`unexpected status ${response.status}`);
    return { code, message: body.error ?? "", challenge: response.headers.get("www-authenticate") };
  },
  "Connect over HTTP/1.1": overRpc((baseUrl) => createConnectTransport({ baseUrl, httpVersion: "1.1" })),
  "Connect over HTTP/2": overRpc((baseUrl) => createConnectTransport({ baseUrl, httpVersion: "2" })),
  "Connect GET": overRpc((baseUrl) => createConnectTransport({ baseUrl, httpVersion: "1.1", useHttpGet: true })),
  gRPC: overRpc((baseUrl) => createGrpcTransport({ baseUrl })),
  "gRPC-Web": overRpc((baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "1.1" })),
  "gRPC, frame by frame": async (url, authorization) => {
    const { headers, trailers } = await rawGrpc(url, authorization === undefined ? {} : { authorization });
    const all = { ...headers, ...trailers };
    const status = all["grpc-status"];
    if (headers[":status"] !== 200) throw new Error(`unexpected status ${headers[":status"]}`);
    if (status === "0") return OK;
    const code = grpcCodes[String(status)];
    if (code === undefined) throw new Error(`unexpected grpc-status ${String(status)}`);
    const message = decodeURIComponent(String(all["grpc-message"]));
    return { code, message, challenge: all["www-authenticate"] ?? null };
  },
};

function overRpc(createTransport: (baseUrl: string) => Transport): GuardedCall {
  return async (url, authorization) => {
    const client = createClient(HealthService, createTransport(url));
    try {
      await client.getLiveness({}, authorization === undefined ? {} : { headers: { authorization } });
      return OK;
    } catch (error) {
      const { code, rawMessage, metadata } = ConnectError.from(error);
      return { code, message: rawMessage, challenge: metadata.get("www-authenticate") };
    }
  };
}

export interface RawReply {
  readonly headers: http2.IncomingHttpHeaders & http2.IncomingHttpStatusHeader;
  readonly trailers: http2.IncomingHttpHeaders;
}

/** Sends an empty message with node:http2 alone. */
export async function rawGrpc(url: string, extra: http2.OutgoingHttpHeaders): Promise<RawReply> {
  const session = http2.connect(url);
  try {
    return await new Promise<RawReply>((resolve, reject) => {
      const stream = session.request({
        ":method": "POST",
        ":path": "/offledger.health.v1.HealthService/GetLiveness",
        "content-type": "application/grpc",
        te: "trailers",
        ...extra,
      });
      let headers: RawReply["headers"] = {};
      let trailers: http2.IncomingHttpHeaders = {};
      stream.on("response", (received) => (headers = received)).on("trailers", (received) => (trailers = received));
      stream.on("error", reject).on("close", () => resolve({ headers, trailers }));
      session.on("error", reject);
      // No compression, a message of no bytes.
      stream.resume().end(Buffer.alloc(5));
    });
  } finally {
    session.close();
  }
}
