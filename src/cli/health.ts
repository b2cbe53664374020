import type { Config } from "../config/config.js";
import { EXIT_FAILURE, fail } from "./failure.js";
import { probeHealth } from "./healthcheck.js";
import { print } from "./output.js";

/** Checks the liveness of a service with these settings on this machine. */
export async function health(config: Config): Promise<void> {
  const reason = await probeHealth(config);
  if (reason === undefined) return print("ok\n");
  fail({ message: `health check failed for ${config.host}:${config.port}: ${reason}`, exitCode: EXIT_FAILURE });
}
