/** The client of connect-es in all its modes: protocol, version of HTTP, codec, compression of requests, GET. */
import type { Transport } from "@connectrpc/connect";
import {
  compressionBrotli,
  compressionGzip,
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";

export interface Mode {
  readonly name: string;
  readonly protocol: "Connect" | "gRPC" | "gRPC-Web";
  readonly isGet: boolean;
  readonly isCompressed: boolean;
  readonly transportTo: (baseUrl: string) => Transport;
}

const makers = { Connect: createConnectTransport, gRPC: createGrpcTransport, "gRPC-Web": createGrpcWebTransport };

/** Whatever its size, so that small requests are compressed too. */
const compressing = { sendCompression: compressionGzip, compressMinBytes: 0 };

function mode(
  protocol: Mode["protocol"],
  httpVersion: "1.1" | "2",
  useBinaryFormat: boolean,
  isCompressed: boolean,
  isGet: boolean,
): Mode {
  const options = {
    httpVersion,
    useBinaryFormat,
    useHttpGet: isGet,
    // All that the client can undo.
    acceptCompression: [compressionBrotli, compressionGzip],
    ...(isCompressed ? compressing : {}),
  };
  const parts = [
    protocol,
    `HTTP/${httpVersion}`,
    useBinaryFormat ? "binary" : "JSON",
    ...(isCompressed ? ["gzip"] : []),
    ...(isGet ? ["GET"] : []),
  ];
  const transportTo = (baseUrl: string) => makers[protocol]({ baseUrl, ...options });
  return { name: parts.join(", "), protocol, isGet, isCompressed, transportTo };
}

const booleans = [false, true] as const;

/** Every combination there is; GET is of Connect alone. */
export const modes: readonly Mode[] = (["Connect", "gRPC", "gRPC-Web"] as const).flatMap((protocol) =>
  (["1.1", "2"] as const).flatMap((httpVersion) =>
    booleans.flatMap((isBinary) =>
      booleans.flatMap((isCompressed) =>
        (protocol === "Connect" ? booleans : [false]).map((isGet) =>
          mode(protocol, httpVersion, isBinary, isCompressed, isGet),
        ),
      ),
    ),
  ),
);
