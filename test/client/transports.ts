/** Transports of the connect-es client: protocol and method, HTTP version, codec, request compression. */
import type { Transport } from "@connectrpc/connect";
import {
  compressionBrotli,
  compressionGzip,
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";

type Protocol = "Connect" | "Connect GET" | "gRPC" | "gRPC-Web";
type HttpVersion = "1.1" | "2";
type Codec = "JSON" | "binary";
type Encoding = "identity" | "gzip";

export interface Configuration {
  readonly name: string;
  readonly protocol: Protocol;
  readonly createTransport: (baseUrl: string) => Transport;
}

const factories = {
  Connect: createConnectTransport,
  "Connect GET": createConnectTransport,
  gRPC: createGrpcTransport,
  "gRPC-Web": createGrpcWebTransport,
};

/**
 * A covering array: every pair of values of two columns occurs in some row. The
 * last three columns have every triple, too. The first row of Connect and of
 * gRPC takes the fast path.
 */
const rows: readonly (readonly [Protocol, HttpVersion, Codec, Encoding])[] = [
  ["Connect", "1.1", "JSON", "identity"],
  ["Connect", "2", "binary", "gzip"],
  ["Connect GET", "2", "JSON", "identity"],
  ["Connect GET", "1.1", "binary", "gzip"],
  ["gRPC", "2", "binary", "identity"],
  ["gRPC", "1.1", "JSON", "gzip"],
  ["gRPC-Web", "1.1", "binary", "identity"],
  ["gRPC-Web", "2", "JSON", "gzip"],
];

export const configurations: readonly Configuration[] = rows.map((row) => {
  const [protocol, httpVersion, codec, encoding] = row;
  const options = {
    httpVersion,
    useBinaryFormat: codec === "binary",
    useHttpGet: protocol === "Connect GET",
    // Every encoding that the client can decode.
    acceptCompression: [compressionBrotli, compressionGzip],
    // Small requests are compressed, too.
    ...(encoding === "gzip" && { sendCompression: compressionGzip, compressMinBytes: 0 }),
  };
  return {
    name: row.join(", "),
    protocol,
    createTransport: (baseUrl) => factories[protocol]({ baseUrl, ...options }),
  };
});
