import type { Socket } from "node:net";
import tls from "node:tls";
import type { Certificate } from "./certificate.js";

const HANDSHAKE_MS = 10_000;

/** Runs TLS handshakes. ALPN selects HTTP/2 if the client offers it, else HTTP/1.1. */
export class TlsHandshakes {
  readonly #server: tls.Server;
  /** Connections in a handshake, by remote address and port: the TLS socket shares only these with the TCP socket. */
  readonly #pending = new Map<string, Socket>();

  /** `dispatch` gets each TLS socket, and the TCP socket below it. */
  constructor(certificate: Certificate, dispatch: (socket: Socket, isHttp2: boolean, tcp: Socket) => void) {
    this.#server = tls.createServer({
      ...certificate.pair,
      ALPNProtocols: ["h2", "http/1.1"],
      minVersion: "TLSv1.2",
      handshakeTimeout: HANDSHAKE_MS,
    });
    this.#server.on("tlsClientError", (_error, socket) => socket.destroy());
    this.#server.on("secureConnection", (socket) => {
      const endpoint = remoteEndpoint(socket);
      const tcp = this.#pending.get(endpoint);
      this.#pending.delete(endpoint);
      if (tcp === undefined) socket.destroy();
      else dispatch(socket, socket.alpnProtocol === "h2", tcp);
    });
    // Established connections keep the certificate they started with.
    certificate.onChange((keyPair) => this.#server.setSecureContext(keyPair));
  }

  accept(socket: Socket): void {
    const endpoint = remoteEndpoint(socket);
    this.#pending.set(endpoint, socket);
    socket.once("close", () => this.#pending.delete(endpoint));
    this.#server.emit("connection", socket);
  }

  close(): void {
    for (const socket of this.#pending.values()) socket.destroy();
  }
}

const remoteEndpoint = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;
