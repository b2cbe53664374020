/** The formats of the fast path, each as its three steps: decode, encode, send. */
import type { IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import { IF_NONE_MATCH, RPC_IF_NONE_MATCH } from "../caching/conditional.js";
import { NOT_MODIFIED } from "../caching/validators.js";
import type { Incoming } from "../drain-body.js";
import type { ChunkList } from "../encoding/chunk-list.js";
import type { EncodableResponse } from "../encoding/encodable-response.js";
import type { WireFormat } from "./call.js";
import { decodeConnectBinary, decodeConnectJson, decodeGrpc } from "./decode.js";
import { sendConnectError, sendGrpc, sendGrpcError, sendHttp, sendNotModified } from "./send.js";

const requestItself = (request: IncomingMessage): Incoming => request;
const encodeJson = (response: EncodableResponse): ChunkList => response.json();
const encodeBinary = (response: EncodableResponse): ChunkList => response.binary();

/** The fields of an empty message in place of a response that the client has. */
const emptyFields = (fields: readonly string[]): string[] => [...fields, NOT_MODIFIED, "true"];

/** REST: `decode` merges path parameters and body, `sendError` hands the error to Fastify. */
export function restFormat(decode: WireFormat["decode"]): WireFormat {
  return {
    protocol: "rest",
    framingBytes: 0,
    source: requestItself,
    decode,
    encode: encodeJson,
    send: (call, message, fields) => sendHttp(call, "application/json", message, fields),
    condition: IF_NONE_MATCH,
    sendNotModified: (call, _response, fields) => sendNotModified(call, fields),
    sendError: ({ reply }, error) => void reply.send(error),
  };
}

export const connectJson: WireFormat = {
  protocol: "connect",
  framingBytes: 0,
  source: requestItself,
  decode: decodeConnectJson,
  encode: encodeJson,
  send: (call, message, fields) => sendHttp(call, "application/json", message, fields),
  condition: RPC_IF_NONE_MATCH,
  sendNotModified: (call, response, fields) =>
    sendHttp(call, "application/json", encodeJson(response.empty()), emptyFields(fields)),
  sendError: sendConnectError,
};

export const connectBinary: WireFormat = {
  protocol: "connect",
  framingBytes: 0,
  source: requestItself,
  decode: decodeConnectBinary,
  encode: encodeBinary,
  send: (call, message, fields) => sendHttp(call, "application/proto", message, fields),
  condition: RPC_IF_NONE_MATCH,
  sendNotModified: (call, response, fields) =>
    sendHttp(call, "application/proto", encodeBinary(response.empty()), emptyFields(fields)),
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
  condition: RPC_IF_NONE_MATCH,
  sendNotModified: (call, response, fields) => sendGrpc(call, encodeBinary(response.empty()), emptyFields(fields)),
  sendError: sendGrpcError,
};
