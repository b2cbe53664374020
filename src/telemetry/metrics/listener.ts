/** Serves metrics at a port of their own. */
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { SettingError } from "../../config/setting-error.js";

/** Whoever scrapes needs one or two. */
const MOST_CONNECTIONS = 16;
/** A request has to be there by then, in milliseconds. */
const REQUEST_MS = 5_000;
/** How long a connection may be idle: longer than the usual interval between two scrapes. */
const IDLE_MS = 70_000;

export interface MetricsListener {
  /** Where metrics are. */
  readonly url: string;
  close(): Promise<void>;
}

/** What is served, as text of that type. */
export interface Exposition {
  readonly contentType: string;
  metrics(): Promise<string>;
}

/** Begins to listen. Throws SettingError where that cannot be. */
export async function listenForMetrics(host: string, port: number, exposition: Exposition): Promise<MetricsListener> {
  const server = createServer({ headersTimeout: REQUEST_MS, requestTimeout: REQUEST_MS }, answering(exposition));
  server.maxConnections = MOST_CONNECTIONS;
  server.keepAliveTimeout = IDLE_MS;
  server.listen(port, host);
  try {
    await once(server, "listening");
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const takes = "a host and a port that can be listened on";
    throw new SettingError("OFFLEDGER_METRICS_PORT, with OFFLEDGER_METRICS_HOST,", takes, reason);
  }
  // Such as too many open files: nothing that ends the service.
  server.on("error", () => undefined);
  const { address, family, port: given } = server.address() as AddressInfo;
  return {
    url: `http://${family === "IPv6" ? `[${address}]` : address}:${given}/metrics`,
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function answering(exposition: Exposition): RequestListener {
  return (request, response) => {
    const [path] = (request.url ?? "").split("?", 1);
    if (request.method !== "GET" || path !== "/metrics") {
      response.writeHead(404, { "content-type": "text/plain; charset=utf-8" });
      response.end("there is nothing but GET /metrics here\n");
      return;
    }
    exposition.metrics().then(
      (text) => response.writeHead(200, { "content-type": exposition.contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  };
}
