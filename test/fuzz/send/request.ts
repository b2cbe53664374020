/** Sends well-formed requests with the HTTP/1.1 and HTTP/2 clients of Node.js. */
import http from "node:http";
import { type Input, type Outcome, toHex, truncate } from "../input.js";
import { findFault } from "./oracle.js";
import type { ServiceResponse, Target } from "./target.js";

export interface FuzzRequest {
  readonly version: 1 | 2;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** The service may close the connection before it has read a larger body. */
const MAX_READ_BODY = 1024 * 1024;

export function createRequestInput(request: FuzzRequest): Input {
  return {
    send: (target) => sendAndJudge(target, request),
    show() {
      const { version, method, path, headers, body } = request;
      return `HTTP/${version} ${method} ${truncate(path)}\n${truncate(JSON.stringify(headers))}\nbody: ${toHex(body)}`;
    },
  };
}

async function sendAndJudge(target: Target, request: FuzzRequest): Promise<Outcome> {
  const startedAt = performance.now();
  let response: ServiceResponse;
  try {
    // The service may close a kept connection at any time: the second attempt uses a new one.
    response = await sendRequest(target, request, false).catch(() => sendRequest(target, request, true));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    if (request.body.length > MAX_READ_BODY) return { result: "cut" };
    return { result: "nothing", fault: `no response, not even on a new connection: ${reason}` };
  }
  target.recordLatency(startedAt);
  const fault = findFault(request, response);
  return { result: String(response.status), ...(fault !== undefined && { fault }) };
}

const toStrings = (headers: object): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));

/** Sends a request once, on a kept or on a new connection. Rejects after the target's time limit. */
export async function sendRequest(
  target: Target,
  request: FuzzRequest,
  usesNewConnection: boolean,
): Promise<ServiceResponse> {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), target.limitMs);
  try {
    return await (request.version === 1 ? sendHttp1 : sendHttp2)(target, request, usesNewConnection, stop.signal);
  } catch (error) {
    throw stop.signal.aborted ? new Error(`none within ${target.limitMs} ms`, { cause: error }) : error;
  } finally {
    clearTimeout(timer);
  }
}

type Send = (
  target: Target,
  request: FuzzRequest,
  usesNewConnection: boolean,
  signal: AbortSignal,
) => Promise<ServiceResponse>;

const sendHttp1: Send = (
  { host, port, agent: keepAlive },
  { method, path, headers, body },
  usesNewConnection,
  signal,
) =>
  new Promise((resolve, reject) => {
    const length =
      body.length > 0 && headers["transfer-encoding"] === undefined ? { "content-length": body.length } : {};
    const agent = usesNewConnection ? false : keepAlive;
    const request = http.request(
      { host, port, method, path, signal, agent, headers: { ...headers, ...length } },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk)).on("error", reject);
        response.on("end", () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: toStrings({ ...response.headers, ...response.trailers }),
            body: Buffer.concat(chunks),
          }),
        );
      },
    );
    request.on("error", reject);
    request.end(body.length > 0 ? body : undefined);
  });

const sendHttp2: Send = (target, { method, path, headers, body }, usesNewConnection, signal) =>
  new Promise((resolve, reject) => {
    const stream = target
      .session(usesNewConnection)
      .request({ ":method": method, ":path": path, ...headers }, { endStream: body.length === 0, signal });
    const chunks: Buffer[] = [];
    let received: Record<string, string> = {};
    const addHeaders = (more: object) => {
      received = { ...received, ...toStrings(more) };
    };
    stream.on("response", addHeaders).on("trailers", addHeaders).on("error", reject);
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("close", () => {
      const status = Number(received[":status"] ?? 0);
      if (status === 0) reject(new Error(`the stream was closed with code ${stream.rstCode} and no response`));
      else resolve({ status, headers: received, body: Buffer.concat(chunks) });
    });
    if (body.length > 0) stream.end(body);
  });
