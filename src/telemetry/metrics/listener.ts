import { once } from "node:events";
import { createServer, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { SettingError } from "../../config/setting-error.js";
import type { WarningSource } from "./service-metrics.js";

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
  /** Undefined if `/warnings` is not served. */
  readonly warnings: WarningSource | undefined;
}

/** Serves GET /metrics and GET /warnings on a port of their own. Throws SettingError if it cannot listen on the address. */
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
  const { warnings } = exposition;
  return (request, response) => {
    const [path] = (request.url ?? "").split("?", 1);
    const isGet = request.method === "GET";
    const fail = () => void response.writeHead(500).end();
    if (isGet && path === "/metrics") {
      const { contentType } = exposition;
      exposition.metrics().then((text) => response.writeHead(200, { "content-type": contentType }).end(text), fail);
    } else if (isGet && path === "/warnings" && warnings !== undefined) {
      warnings.list().then((list) => sendWarnings(response, list), fail);
    } else {
      response.writeHead(404, { "content-type": "text/plain; charset=utf-8" });
      response.end(`not found; use GET /metrics${warnings === undefined ? "" : " or GET /warnings"}\n`);
    }
  };
}

function sendWarnings(response: ServerResponse, list: object | undefined): void {
  const json = { "content-type": "application/json; charset=utf-8" };
  if (list !== undefined) response.writeHead(200, json).end(`${JSON.stringify(list)}\n`);
  else {
    const error = "the first check of the registry is not finished yet";
    response.writeHead(503, { ...json, "retry-after": "1" }).end(`${JSON.stringify({ error })}\n`);
  }
}
