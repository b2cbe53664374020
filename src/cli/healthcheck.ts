import http from "node:http";
import https from "node:https";
import type { Config } from "../config/config.js";
import { messageOf } from "./failure.js";
import { localAddress } from "./local-address.js";

const TIMEOUT_MS = 2_500;

/** Requests `/livez` on this machine: the image has no curl. Returns undefined for status 200, otherwise the reason. */
export function probeHealth({ host, port, tlsCertFile }: Config): Promise<string | undefined> {
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
    request.on("error", (error) => resolve(messageOf(error)));
  });
}
