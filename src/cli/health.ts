import http from "node:http";
import https from "node:https";
import type { Config } from "../config/config.js";
import { errorMessage } from "../util/logger.js";
import { EXIT_FAILURE, fail, print } from "./output.js";

/** Checks the liveness of a service with these settings on this machine. */
export async function health(config: Config): Promise<void> {
  const { host, port } = config.metricsPort ?? config;
  const reason = await probeHealth({ host, port, tlsCertFile: config.tlsCertFile });
  if (reason === undefined) return print("ok\n");
  fail({ message: `health check failed for ${host}:${port}: ${reason}`, exitCode: EXIT_FAILURE });
}

type Address = Pick<Config, "host" | "port" | "tlsCertFile">;

const TIMEOUT_MS = 2_500;

/**
 * Requests `/livez` on this machine, of the operator's port if there is one: clients do not crowd it. The image has no curl.
 * Returns undefined for status 200, otherwise the reason.
 */
function probeHealth({ host, port, tlsCertFile }: Address): Promise<string | undefined> {
  const options = { host: localAddress(host), port, path: "/livez", timeout: TIMEOUT_MS, agent: false };
  return new Promise((resolve) => {
    const request =
      tlsCertFile === undefined
        ? http.get(options)
        : // The certificate names the public host, not this address.
          https.get({ ...options, rejectUnauthorized: false });
    request.on("response", (response) => {
      response.resume();
      const { statusCode } = response;
      resolve(statusCode === 200 ? undefined : `/livez answered with status ${statusCode}`);
    });
    request.on("timeout", () => request.destroy(new Error(`no response within ${TIMEOUT_MS / 1000} seconds`)));
    request.on("error", (error) => resolve(errorMessage(error)));
  });
}

/** An address to connect to when a service listens on all addresses. */
export function localAddress(host: string): string {
  return { "0.0.0.0": "127.0.0.1", "::": "::1" }[host] ?? host;
}
