/** The operator's port: metrics, warnings, and the services of operators. */
import type { FastifyInstance, FastifyPluginAsync } from "fastify";
import type { Logger } from "pino";
import type { ServiceBinding } from "../../service/service-binding.js";
import type { Exposition } from "../../telemetry/metrics.js";
import { type BudgetLimits, type ConnectionLimits, createBudgets } from "../limits.js";
import { type AdmissionOptions, createServer, type ServerOptions } from "../server.js";
import { operatorAccess, readOperatorToken } from "./access.js";

/** What holds on the public port too. */
type SharedOptions = Pick<ServerOptions, "arguments" | "certificate" | "compresses" | "maxBodyBytes">;

export interface OperatorServerOptions extends SharedOptions {
  /** Services for operators, on every protocol. */
  readonly bindings: readonly ServiceBinding[];
  /** Adds further routes, such as a page, as a plugin of Fastify. */
  readonly routes?: FastifyPluginAsync | undefined;
  /** Paths of `routes`, as they are registered, that need no token: they must show nothing of the registry. */
  readonly openPaths?: readonly string[];
  /** Paths of `bindings` that need no token, and are open to other machines: they must show nothing but health. */
  readonly probePaths?: readonly string[];
  readonly exposition: Exposition;
  /** The path of the file with the token that every request needs. */
  readonly tokenFile?: string | undefined;
  readonly host: string;
  readonly port: number;
  readonly log: Logger;
}

interface OperatorServer {
  readonly url: string;
  /** Completes the requests in progress, and cuts the rest after `graceMs`. */
  readonly close: (graceMs: number) => Promise<void>;
}

/**
 * Starts the server of the operator's port. Throws FileError if the token cannot be used, and the system's error if the
 * address cannot; nothing keeps running then.
 */
export async function startOperatorServer(options: OperatorServerOptions): Promise<OperatorServer> {
  const { bindings, routes, openPaths = [], probePaths = [], exposition, tokenFile, host, port, ...shared } = options;
  const { log } = shared;
  const token = tokenFile === undefined ? undefined : await readOperatorToken(tokenFile);
  const server = await createServer(bindings, {
    ...shared,
    connections: OPERATOR_CONNECTIONS,
    budgets: createBudgets(OPERATOR_BUDGETS),
    admission: OPERATOR_ADMISSION,
    firstPlugin: operatorAccess(token, [...probePaths, ...(token === undefined ? EXPOSITION_PATHS : openPaths)]),
    routes: async (instance) => {
      await instance.register(expositionRoutes(exposition));
      if (routes !== undefined) await instance.register(routes);
    },
  });
  const close = async (graceMs: number) => void (await Promise.all([token?.close(), server.close(graceMs)]));
  try {
    const url = await server.listen(host, port);
    token?.watch(log);
    return { url, close };
  } catch (error) {
    await close(0);
    throw error;
  }
}

/** Prometheus and a few people need no more. */
const OPERATOR_CONNECTIONS: ConnectionLimits = {
  maxHeaderBytes: 16 * 1024,
  requestMs: 5_000,
  maxConnections: 16,
  maxStreams: 32,
};

/** Its own, so that no load of the public port makes the metrics unreadable, and none of its own disturbs clients. */
const OPERATOR_BUDGETS: BudgetLimits = { bodyMegabytes: 16, responseMegabytes: 32, requests: 256 };

/** No page of another origin may read a response. Metrics are answered under any load. */
const OPERATOR_ADMISSION: AdmissionOptions = {
  corsOrigins: "none",
  maxPathBytes: 12 * 1024,
  maxDelayMs: 0,
};

const METRICS = "/metrics";
const WARNINGS = "/warnings";
const EXPOSITION_PATHS: readonly string[] = [METRICS, WARNINGS];

const JSON_TYPE = "application/json; charset=utf-8";

function expositionRoutes(exposition: Exposition) {
  const { contentType, warnings } = exposition;
  return async (server: FastifyInstance): Promise<void> => {
    // Prometheus shows the status alone.
    server.setErrorHandler((_error, _request, reply) => reply.code(500).send());
    server.get(METRICS, async (_request, reply) => reply.type(contentType).send(await exposition.metrics()));
    if (warnings === undefined) return;
    server.get(WARNINGS, async (_request, reply) => {
      const list = await warnings.list();
      reply.type(JSON_TYPE);
      if (list !== undefined) return reply.send(`${JSON.stringify(list)}\n`);
      const error = "the first check of the registry is not finished yet";
      return reply
        .code(503)
        .header("retry-after", "1")
        .send(`${JSON.stringify({ error })}\n`);
    });
  };
}
