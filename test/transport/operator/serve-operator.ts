/** The operator's server on a real port, with the health service as one for operators, and a page. */
import { pino } from "pino";
import { onTestFinished } from "vitest";
import { health } from "../../../src/service/health.js";
import { type OperatorServerOptions, startOperatorServer } from "../../../src/transport/operator/server.js";
import { temporaryFile } from "../../fixtures/files.js";
import { TEST_SERVER_OPTIONS } from "../../fixtures/server-options.js";

export const TOKEN = "0123456789abcdef";
export const OPEN_PAGE = "/page";
export const CLOSED_PAGE = "/page/data";
export const METRICS = "metric 1\n";
export const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** Serves until the test ends. `messages` are those of the log. */
export async function serveOperator(options: Partial<OperatorServerOptions> = {}) {
  const messages: string[] = [];
  const log = pino({}, { write: (line) => void messages.push((JSON.parse(line) as { msg: string }).msg) });
  const { maxBodyBytes, compresses, arguments: limits } = TEST_SERVER_OPTIONS;
  const { url, close } = await startOperatorServer({
    maxBodyBytes,
    compresses,
    arguments: limits,
    bindings: [health(() => undefined)],
    routes: async (instance) => {
      instance.get(OPEN_PAGE, (_request, reply) => reply.type("text/html").send("a page"));
      instance.get(CLOSED_PAGE, (_request, reply) => reply.type("text/html").send("data"));
    },
    openPaths: [OPEN_PAGE],
    exposition: {
      contentType: METRICS_TYPE,
      metrics: () => Promise.resolve(METRICS),
      warnings: { latest: () => undefined, list: () => Promise.resolve({ total: 0 }) },
    },
    host: "127.0.0.1",
    port: 0,
    log,
    ...options,
  });
  onTestFinished(() => close(1_000));
  return { url, messages };
}

/** A file with a token; removed when the test ends. */
export const fileOf = (content: string): Promise<string> => temporaryFile("token", content);
