/** `offledger explain`: asks the operator's port of a service on this machine. */
import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import http from "node:http";
import https from "node:https";
import { TLSSocket } from "node:tls";
import { fromJsonString } from "@bufbuild/protobuf";
import { type ExplainResponse, ExplainResponseSchema } from "../../gen/offledger/explain/v1/explain_pb.js";
import type { Config } from "../config/config.js";
import { SettingError } from "../config/setting.js";
import { isObject, type JsonObject, type JsonValue, parseJsonText, valueAt } from "../util/json.js";
import { errorMessage } from "../util/logger.js";
import { readText } from "../util/outgoing.js";
import { formatExplanation } from "./explanation.js";
import { localAddress } from "./health.js";
import { configFailure, EXIT_CONFIG, EXIT_FAILURE, fail, type Failure, print } from "./output.js";

const PATH = "/api/offledger/v1/explain";
/** As much as the operator's port accepts. */
const MAX_INPUT_BYTES = 16 * 1024 * 1024;
/** Answered by a setting or an input that does not change by a retry. */
const CONFIG_STATUSES = new Set([400, 401, 403, 413]);

/**
 * Prints how a running service answers a request. `argument` is the id of a refused request, or `-` for one on stdin:
 * `{"operation": …, "request": …, "at": …}`.
 */
export async function explain(config: Config, argument: string): Promise<void> {
  let body: string;
  try {
    body = JSON.stringify(argument === "-" ? explainRequest(await readInput()) : { requestId: argument });
  } catch (error) {
    return fail(configFailure(`the request on stdin cannot be read: ${errorMessage(error)}`));
  }
  try {
    const url = operatorUrl(config);
    try {
      const response = await postToOperator(config, url, body);
      if (response.status === 200) return print(formatExplanation(explanationIn(response)));
      const exitCode = CONFIG_STATUSES.has(response.status) ? EXIT_CONFIG : EXIT_FAILURE;
      fail(atUrl(url, describeRefusal(config, response), exitCode));
    } catch (error) {
      if (error instanceof SettingError) throw error;
      fail(atUrl(url, errorMessage(error), EXIT_FAILURE));
    }
  } catch (error) {
    if (!(error instanceof SettingError)) throw error;
    fail(configFailure(error.message));
  }
}

const atUrl = ({ origin }: URL, reason: string, exitCode: number): Failure => ({
  message: `the service at ${origin} cannot explain the request: ${reason}`,
  exitCode,
});

function explanationIn({ body }: OperatorResponse): ExplainResponse {
  try {
    return fromJsonString(ExplainResponseSchema, body, { ignoreUnknownFields: true });
  } catch {
    throw new Error("the answer is no explanation");
  }
}

/** What the service says, and what to set. */
function describeRefusal({ operatorTokenFile }: Config, { status, body }: OperatorResponse): string {
  const error = valueAt(parseJsonText(body) as JsonValue | undefined, "error");
  const message = typeof error === "string" ? error : "no reason is given";
  if (status !== 401) return `status ${status}, ${message}`;
  const todo = operatorTokenFile === undefined ? "set" : "check the file of";
  return `status 401, ${message}: ${todo} OFFLEDGER_OPERATOR_TOKEN_FILE`;
}

function explainRequest(input: string): JsonObject {
  const given = JSON.parse(input) as JsonValue;
  if (!isObject(given)) throw new Error('it must be an object with "operation" and "request"');
  const { at, ...call } = given;
  return at === undefined ? { call } : { call, at };
}

/** Waits without a time limit: a person may type. */
async function readInput(): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_INPUT_BYTES) throw new Error("it exceeds 16 MiB");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

const TIMEOUT_MS = 10_000;
const MAX_RESPONSE_BYTES = 16 * 1024 * 1024;

interface OperatorResponse {
  readonly status: number;
  readonly body: string;
}

/**
 * Sends JSON to the operator's port of a service with these settings on this machine. Rejects with SettingError
 * for a setting that cannot be used, and with another error if there is no response within 10 seconds and 16 MiB.
 */
async function postToOperator(config: Config, base: URL, body: string): Promise<OperatorResponse> {
  const url = new URL(PATH, base);
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
      const { statusCode: status = 0 } = response;
      readText(response, MAX_RESPONSE_BYTES).then((text) => resolve({ status, body: text }), reject);
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

/** The base URL of the operator's port. Throws SettingError if the settings do not say which it is. */
function operatorUrl({ metricsPort, tlsCertFile }: Config): URL {
  if (metricsPort === undefined || metricsPort.port === 0) {
    const reason = metricsPort?.port === 0 ? "it is 0, which selects a free port" : "it is not set";
    throw new SettingError("OFFLEDGER_METRICS_PORT", "the port on which the service has its operator's port", reason);
  }
  const address = localAddress(metricsPort.host);
  const host = address.includes(":") ? `[${address}]` : address;
  return new URL(`${tlsCertFile === undefined ? "http" : "https"}://${host}:${metricsPort.port}`);
}

/** The header with the operator's token, if one is set. Throws SettingError. */
async function authorization({ operatorTokenFile: path }: Config): Promise<{ authorization?: string }> {
  if (path === undefined) return {};
  const accepts = "the path of a readable file with the operator's token";
  const token = (await readSetting("OFFLEDGER_OPERATOR_TOKEN_FILE", accepts, path)).trim();
  if (/^[!-~]+$/.test(token)) return { authorization: `Bearer ${token}` };
  throw new SettingError("OFFLEDGER_OPERATOR_TOKEN_FILE", accepts, `${path} has none`);
}

/** The certificate of the service, if it serves TLS. Throws SettingError. */
async function readCertificate({ tlsCertFile: path }: Config): Promise<X509Certificate | undefined> {
  if (path === undefined) return undefined;
  const accepts = "the path of a readable PEM file";
  const pem = await readSetting("OFFLEDGER_TLS_CERT_FILE", accepts, path);
  try {
    return new X509Certificate(pem);
  } catch (error) {
    throw new SettingError("OFFLEDGER_TLS_CERT_FILE", accepts, errorMessage(error));
  }
}

async function readSetting(variable: string, accepts: string, path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw new SettingError(variable, accepts, errorMessage(error));
  }
}
