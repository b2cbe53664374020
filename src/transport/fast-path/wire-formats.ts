/** The formats of the fast path, each as its three steps: decode, encode, send. */
import type { IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import type { Incoming } from "../drain-body.js";
import type { ChunkList } from "../encoding/chunk-list.js";
import type { EncodableResponse } from "../encoding/encodable-response.js";
import type { WireFormat } from "./call.js";
import { decodeConnectBinary, decodeConnectJson, decodeGrpc } from "./decode.js";
import { sendConnectError, sendGrpc, sendGrpcError, sendHttp } from "./send.js";

const requestItself = (request: IncomingMessage): Incoming => request;
const encodeJson = (response: EncodableResponse): ChunkList => response.json();
const encodeBinary = (response: EncodableResponse): ChunkList => response.binary();

/** REST: `decode` merges path parameters and body, `sendError` hands the error to Fastify. */
export function restFormat(decode: WireFormat["decode"]): WireFormat {
  return {
    protocol: "rest",
    framingBytes: 0,
    source: requestItself,
    decode,
    encode: encodeJson,
    send: (call, message) => sendHttp(call, "application/json", message),
    sendError: ({ reply }, error) => void reply.send(error),
  };
}

export const connectJson: WireFormat = {
  protocol: "connect",
  framingBytes: 0,
  source: requestItself,
  decode: decodeConnectJson,
  encode: encodeJson,
  send: (call, message) => sendHttp(call, "application/json", message),
  sendError: sendConnectError,
};

export const connectBinary: WireFormat = {
  protocol: "connect",
  framingBytes: 0,
  source: requestItself,
  decode: decodeConnectBinary,
  encode: encodeBinary,
  send: (call, message) => sendHttp(call, "application/proto", message),
  sendError: sendConnectError,
};

/** gRPC uses the HTTP/2 stream itself: the compatibility classes of Node.js cost more than the call. */
export const grpc: WireFormat = {
  protocol: "grpc",
  framingBytes: 5,
  source: (request) => (request as unknown as Http2ServerRequest).stream,
  decode: decodeGrpc,
  encode: encodeBinary,
  send: sendGrpc,
  sendError: sendGrpcError,
};
