import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { SettingError } from "../../config/setting-error.js";

const MAX_CONNECTIONS = 16;
const REQUEST_MS = 5_000;
/** Idle time of a connection: longer than the usual scrape interval of a minute. */
const IDLE_MS = 70_000;

export interface MetricsListener {
  readonly url: string;
  close(): Promise<void>;
}

export interface Exposition {
  readonly contentType: string;
  metrics(): Promise<string>;
}

/** Serves GET /metrics on a port of its own. Throws SettingError if it cannot listen on the address. */
export async function listenForMetrics(host: string, port: number, exposition: Exposition): Promise<MetricsListener> {
  const server = createServer({ headersTimeout: REQUEST_MS, requestTimeout: REQUEST_MS }, requestListener(exposition));
  server.maxConnections = MAX_CONNECTIONS;
  server.keepAliveTimeout = IDLE_MS;
  server.listen(port, host);
  try {
    await once(server, "listening");
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const accepts = "a free port on a local address";
    throw new SettingError("OFFLEDGER_METRICS_PORT, with OFFLEDGER_METRICS_HOST,", accepts, reason);
  }
  // Errors such as too many open files must not end the service.
  server.on("error", () => undefined);
  const { address, family, port: boundPort } = server.address() as AddressInfo;
  return {
    url: `http://${family === "IPv6" ? `[${address}]` : address}:${boundPort}/metrics`,
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function requestListener(exposition: Exposition): RequestListener {
  return (request, response) => {
    const [path] = (request.url ?? "").split("?", 1);
    if (request.method !== "GET" || path !== "/metrics") {
      response.writeHead(404, { "content-type": "text/plain; charset=utf-8" });
      response.end("not found; use GET /metrics\n");
      return;
    }
    exposition.metrics().then(
      (text) => response.writeHead(200, { "content-type": exposition.contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  };
}
