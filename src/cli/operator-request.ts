import type { X509Certificate } from "node:crypto";
import http from "node:http";
import https from "node:https";
import { TLSSocket } from "node:tls";
import type { Config } from "../config/config.js";
import { authorization, operatorUrl, readCertificate } from "./operator-settings.js";

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 16 * 1024 * 1024;

export interface OperatorResponse {
  readonly status: number;
  readonly body: string;
}

/**
 * Sends JSON to a path of the operator's port of a service with these settings on this machine. Rejects with SettingError
 * for a setting that cannot be used, and with another error if there is no response within 10 seconds and 16 MiB.
 */
export async function postToOperator(config: Config, path: string, body: string): Promise<OperatorResponse> {
  const url = new URL(path, operatorUrl(config));
  const headers = { "content-type": "application/json", ...(await authorization(config)) };
  const certificate = await readCertificate(config);
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), TIMEOUT_MS);
  const options = { method: "POST", headers, agent: false, signal: deadline.signal };
  // The certificate names the public host, not this address: it is compared as a whole instead.
  const request =
    certificate === undefined
      ? http.request(url, options)
      : https.request(url, { ...options, rejectUnauthorized: false });
  try {
    return await exchange(request, body, certificate);
  } catch (error) {
    throw deadline.signal.aborted ? new Error(`no response within ${TIMEOUT_MS / 1_000} seconds`) : error;
  } finally {
    clearTimeout(timer);
    request.destroy();
  }
}

function exchange(
  request: http.ClientRequest,
  body: string,
  certificate: X509Certificate | undefined,
): Promise<OperatorResponse> {
  return new Promise((resolve, reject) => {
    request.on("error", reject);
    request.on("response", (response) => {
      readResponse(response).then(resolve, reject);
    });
    if (certificate === undefined) return void request.end(body);
    // The token must not be sent before the certificate is known.
    request.on("socket", (socket) => {
      socket.once("secureConnect", () => endIfSame(request, socket, certificate, body));
    });
  });
}

function endIfSame(request: http.ClientRequest, socket: object, certificate: X509Certificate, body: string): void {
  const served = socket instanceof TLSSocket ? socket.getPeerX509Certificate() : undefined;
  if (served?.fingerprint256 === certificate.fingerprint256) request.end(body);
  else request.destroy(new Error("the port serves another certificate than the one of OFFLEDGER_TLS_CERT_FILE"));
}

async function readResponse(response: http.IncomingMessage): Promise<OperatorResponse> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new Error("the response exceeds 16 MiB");
    chunks.push(chunk);
  }
  return { status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() };
}
