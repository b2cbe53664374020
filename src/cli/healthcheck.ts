import http from "node:http";
import https from "node:https";
import type { Config } from "../config/config.js";

/** How long the answer may take, in milliseconds. */
const PATIENCE_MS = 2_500;

/**
 * Whether a service with these settings lives on this machine: undefined where
 * it does, else why not. For the health checks of containers, which have neither
 * a shell nor a client of HTTP.
 */
export function probeHealth({ host, port, tlsCertFile }: Config): Promise<string | undefined> {
  const isSecure = tlsCertFile !== undefined;
  const options = { host: own(host), port, path: "/livez", timeout: PATIENCE_MS, agent: false };
  return new Promise((resolve) => {
    const request = isSecure
      ? // Its certificate names the host that callers know, and not this address.
        https.get({ ...options, rejectUnauthorized: false })
      : http.get(options);
    request.on("response", (response) => {
      response.resume();
      const { statusCode } = response;
      resolve(statusCode === 200 ? undefined : `it answers with status ${statusCode}`);
    });
    request.on("timeout", () => request.destroy(new Error(`it does not answer within ${PATIENCE_MS / 1000} seconds`)));
    request.on("error", ({ message }) => resolve(message));
  });
}

/** An address of this machine, where the service listens on all of them. */
function own(host: string): string {
  return { "0.0.0.0": "127.0.0.1", "::": "::1" }[host] ?? host;
}
