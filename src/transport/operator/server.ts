import type { FastifyPluginAsync } from "fastify";
import type { Logger } from "pino";
import type { ServiceBinding } from "../../service/service-binding.js";
import type { Exposition } from "../../telemetry/metrics/exposition.js";
import { createBudgets } from "../limits.js";
import { createServer, type ServerOptions } from "../server.js";
import { operatorAccess } from "./access.js";
import { expositionRoutes } from "./exposition-routes.js";
import { OPERATOR_BUDGETS, OPERATOR_CONNECTIONS, OPERATOR_MIDDLEWARE } from "./limits.js";
import { OperatorToken } from "./token.js";

/** What holds on the public port too. */
type SharedOptions = Pick<ServerOptions, "arguments" | "certificate" | "compresses" | "maxBodyBytes">;

export interface OperatorServerOptions extends SharedOptions {
  /** Services for operators, on every protocol. */
  readonly bindings: readonly ServiceBinding[];
  /** Adds further routes, such as a page, as a plugin of Fastify. */
  readonly routes?: FastifyPluginAsync | undefined;
  /** Paths of `routes`, as they are registered, that need no token: they must show nothing of the registry. */
  readonly openPaths?: readonly string[];
  readonly exposition: Exposition;
  /** The path of the file with the token that every request needs. */
  readonly tokenFile?: string | undefined;
  readonly host: string;
  readonly port: number;
  readonly log: Logger;
}

export interface OperatorServer {
  /** Starts to listen, and returns the base URL. Throws the system's error. */
  listen(): Promise<string>;
  /** Completes the requests in progress, and cuts the rest after `graceMs`. */
  close(graceMs: number): Promise<void>;
}

/** Creates the server of the operator's port. Throws OperatorTokenError if the token cannot be used. */
export async function createOperatorServer(options: OperatorServerOptions): Promise<OperatorServer> {
  const { bindings, routes, openPaths = [], exposition, tokenFile, host, port, log, ...shared } = options;
  const token = tokenFile === undefined ? undefined : await OperatorToken.read(tokenFile);
  const server = await createServer(bindings, {
    ...shared,
    log,
    logLevel: log.level,
    connections: OPERATOR_CONNECTIONS,
    budgets: createBudgets(OPERATOR_BUDGETS),
    middleware: OPERATOR_MIDDLEWARE,
    gate: operatorAccess(token, openPaths),
    routes: async (instance) => {
      await instance.register(expositionRoutes(exposition));
      if (routes !== undefined) await instance.register(routes);
    },
  });
  return {
    async listen() {
      const url = await server.listen(host, port);
      token?.watch(log);
      return url;
    },
    async close(graceMs) {
      token?.close();
      await server.close(graceMs);
    },
  };
}
