/** What Node.js has written and the kernel has not accepted. */
import { once } from "node:events";
import http2 from "node:http2";
import net, { type AddressInfo, type Socket } from "node:net";
import tls from "node:tls";
import { expect, onTestFinished, test } from "vitest";
import { hasUnsentBytes } from "../../../src/transport/listener/unsent-bytes.js";
import { createCertificates, hasOpenssl } from "../../fixtures/certificates.js";
import {
  END_HEADERS,
  END_STREAM,
  frame,
  PREFACE,
  requestHeaders,
  settings,
  Type,
  word,
} from "../../fixtures/http2-frames.js";
import { until } from "../../fixtures/wait.js";

/** More than the kernel holds for a client that does not read. */
const BYTES = 50_000_000;

test.each([
  ["cleartext", false],
  ["TLS", true],
])(
  "over %s a socket has unsent bytes while its client does not read, and none before and after",
  async (_what, isTls) => {
    if (isTls && !hasOpenssl) return;
    const certificates = isTls ? createCertificates() : undefined;
    const server = certificates === undefined ? http2.createServer() : http2.createSecureServer(certificates);
    server.on("stream", (stream: http2.ServerHttp2Stream) => stream.end(Buffer.alloc(BYTES)));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const accepted = once(server, isTls ? "secureConnection" : "connection");
    const { port } = server.address() as AddressInfo;
    const client =
      certificates === undefined
        ? net.connect(port, "127.0.0.1")
        : tls.connect({ port, host: "127.0.0.1", ca: certificates.ca, ALPNProtocols: ["h2"] });
    onTestFinished(() => void client.destroy());
    const [socket] = (await accepted) as [Socket];
    const window = frame(Type.windowUpdate, 0, 0, word(2 ** 30));
    client.write(Buffer.concat([PREFACE, settings({ 4: 2 ** 30 }), window]));
    await until("the settings are sent", () => !hasUnsentBytes(socket));
    client.write(frame(Type.headers, END_HEADERS | END_STREAM, 1, requestHeaders("/")));
    await until("bytes wait", () => hasUnsentBytes(socket));
    client.resume();
    await until("all is sent", () => !hasUnsentBytes(socket));
    expect(client.bytesRead).toBeGreaterThan(BYTES / 2);
  },
);
