import type { Logger } from "pino";
import type { Config } from "../../config/config.js";
import { SettingError } from "../../config/setting.js";
import { OperatorTokenError } from "../../transport/operator/access.js";
import { CONSOLE_PATHS, consolePage } from "../../transport/operator/console-page.js";
import {
  createOperatorServer,
  type OperatorServer,
  type OperatorServerOptions,
} from "../../transport/operator/server.js";
import type { ServerOptions } from "../../transport/server.js";

/** What the composition root gives to the operator's port. */
type Served = Pick<OperatorServerOptions, "bindings" | "exposition">;

export interface RunningOperator {
  readonly metricsUrl: string;
  close(graceMs: number): Promise<void>;
}

/**
 * Starts the operator's port, with the certificate and the limits on messages of the public one. Throws SettingError if
 * the token or the address cannot be used; nothing keeps running then.
 */
export async function startOperator(
  { metricsHost: host, metricsPort: port = 0, operatorTokenFile: tokenFile }: Config,
  { maxBodyBytes, compresses, arguments: limits, certificate }: ServerOptions,
  served: Served,
  log: Logger,
): Promise<RunningOperator> {
  const shared = { maxBodyBytes, compresses, arguments: limits, certificate };
  // A process that answers nothing has nothing to show.
  const page = served.bindings.length === 0 ? {} : { routes: consolePage(compresses), openPaths: CONSOLE_PATHS };
  const server = await create({ ...served, ...shared, ...page, tokenFile, host, port, log });
  try {
    const metricsUrl = `${await server.listen()}/metrics`;
    log.info({ url: metricsUrl }, "metrics listening");
    return { metricsUrl, close: (graceMs) => server.close(graceMs) };
  } catch (error) {
    await server.close(0);
    const reason = error instanceof Error ? error.message : String(error);
    const accepts = "a free port on a local address";
    throw new SettingError("OFFLEDGER_METRICS_PORT, with OFFLEDGER_METRICS_HOST,", accepts, reason);
  }
}

async function create(options: OperatorServerOptions): Promise<OperatorServer> {
  try {
    return await createOperatorServer(options);
  } catch (error) {
    if (!(error instanceof OperatorTokenError)) throw error;
    const accepts = "the path of a file with a token of at least 16 characters";
    throw new SettingError("OFFLEDGER_OPERATOR_TOKEN_FILE", accepts, error.message);
  }
}
