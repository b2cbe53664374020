/** Clients that call an operation over every protocol with any headers: fetch for REST, connect-node for the others. */
import { fromJson } from "@bufbuild/protobuf";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { type Call, sendRest } from "../fixtures/protocols.js";

/** Returns the error code; undefined for success. */
export type Send = (url: string, call: Call, headers?: Readonly<Record<string, string>>) => Promise<Code | undefined>;

export interface ProtocolClient {
  /** The label of the metrics. */
  readonly protocol: string;
  readonly send: Send;
}

export const protocolClients: Readonly<Record<string, ProtocolClient>> = {
  REST: { protocol: "rest", send: rest },
  "Connect JSON": rpc("connect", (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "1.1" })),
  "Connect binary over HTTP/2": rpc("connect", (baseUrl) =>
    createConnectTransport({ baseUrl, httpVersion: "2", useBinaryFormat: true }),
  ),
  "Connect GET": rpc("connect", (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "1.1", useHttpGet: true })),
  gRPC: rpc("grpc", (baseUrl) => createGrpcTransport({ baseUrl })),
  "gRPC-Web": rpc("grpc-web", (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "1.1" })),
};

/** The full name of the rpc. */
export const nameOf = ({ method }: Call): string => `${method.parent.typeName}/${method.name}`;

const codes: Readonly<Record<number, Code>> = { 400: Code.InvalidArgument, 404: Code.NotFound, 503: Code.Unavailable };

async function rest(
  url: string,
  call: Call,
  headers: Readonly<Record<string, string>> = {},
): Promise<Code | undefined> {
  const type = call.body === undefined ? {} : { "content-type": "application/json" };
  const response = await sendRest(url, call, { headers: { ...type, ...headers } });
  await response.text();
  return response.ok ? undefined : (codes[response.status] ?? Code.Unknown);
}

function rpc(protocol: string, transportTo: (baseUrl: string) => Transport): ProtocolClient {
  return {
    protocol,
    async send(url, { method, request }, headers = {}) {
      try {
        await transportTo(url).unary(method, undefined, undefined, headers, fromJson(method.input, request));
        return undefined;
      } catch (error) {
        return ConnectError.from(error).code;
      }
    },
  };
}
