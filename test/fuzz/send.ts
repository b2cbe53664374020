/** Sends well-formed requests with the HTTP/1.1 and HTTP/2 clients of Node.js. No response may report a fault of the server. */
import http from "node:http";
import http2 from "node:http2";
import type { Prng } from "./prng.js";

export interface Input {
  /** Sends the input and applies the oracles to the response. */
  send(target: Target): Promise<Outcome>;
  show(): string;
}

export interface Outcome {
  /** The status, or why there is none; counted in the report. */
  readonly result: string;
  /** Undefined where the oracles accept the response. */
  readonly fault?: string;
}

export interface InputGenerator {
  readonly name: string;
  readonly share: number;
  readonly inFlight: number;
  make(prng: Prng): Input;
}

const MAX_SHOWN = 600;

export function toHex(bytes: Buffer): string {
  const suffix = bytes.length > MAX_SHOWN ? `… (${bytes.length} bytes)` : "";
  return bytes.subarray(0, MAX_SHOWN).toString("hex") + suffix;
}

export const truncate = (text: string): string =>
  text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}… (${text.length} characters)` : text;

const MAX_SESSIONS = 4;
const REQUESTS_PER_SESSION = 4_000;

export interface ServiceResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export class Target {
  readonly agent = new http.Agent({ keepAlive: true, maxSockets: 64 });
  readonly #sessions = new Map<number, { session: http2.ClientHttp2Session; left: number }>();
  #turn = 0;
  maxLatencyMs = 0;
  /** HTTP/2 connections that the service may not have closed yet after their clients. */
  lingering = 0;

  constructor(
    readonly host: string,
    readonly port: number,
    readonly limitMs: number,
  ) {}

  session(isNew: boolean): http2.ClientHttp2Session {
    this.#turn = (this.#turn + 1) % MAX_SESSIONS;
    const pooled = this.#sessions.get(this.#turn);
    if (pooled !== undefined && !isNew && pooled.left-- > 0 && !pooled.session.closed && !pooled.session.destroyed) {
      return pooled.session;
    }
    pooled?.session.close();
    const session = http2.connect(`http://${this.host}:${this.port}`);
    session.on("error", () => {});
    this.#sessions.set(this.#turn, { session, left: REQUESTS_PER_SESSION });
    return session;
  }

  /** `startedAt` is by `performance.now()`. */
  recordLatency(startedAt: number): void {
    this.maxLatencyMs = Math.max(this.maxLatencyMs, performance.now() - startedAt);
  }

  close(): void {
    this.agent.destroy();
    for (const { session } of this.#sessions.values()) session.destroy();
    this.#sessions.clear();
  }
}

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

/** unknown, internal, unavailable, data_loss: no request may cause them. */
const SERVER_FAULTS = new Set(["2", "13", "14", "15"]);

/** Messages of errors that Connect and gRPC prescribe for invalid framing; see docs/errors.md. */
const PROTOCOL_PRESCRIBED =
  /^(protocol error: )?received compressed envelope|^protocol error: |^unknown compression |^the message is compressed, but /;

/** connect-es has `internal` for a message that it cannot decode. */
const UNDECODABLE = /^parse binary: /;

const TIMEOUT_HEADERS = ["connect-timeout-ms", "grpc-timeout"];

export function findFault(request: FuzzRequest, response: ServiceResponse): string | undefined {
  return findStatusFault(request, response) ?? findGrpcFault(response);
}

function findStatusFault({ headers, path }: FuzzRequest, { status, body }: ServiceResponse): string | undefined {
  if (status >= 200 && status < 500) return undefined;
  if (status === 503 && path === "/readyz") return undefined;
  const { code, message = "" } = parseConnectError(body);
  if (status === 504 && code === "deadline_exceeded" && TIMEOUT_HEADERS.some((name) => name in headers)) {
    return undefined;
  }
  if (status === 500 && code === "internal" && UNDECODABLE.test(message)) return undefined;
  if (status === 501 && code === "unimplemented" && PROTOCOL_PRESCRIBED.test(message)) return undefined;
  return `status ${status}: ${body.toString("utf8", 0, 300)}`;
}

function parseConnectError(body: Buffer): { code?: string; message?: string } {
  try {
    return Object(JSON.parse(body.toString())) as object;
  } catch {
    return {};
  }
}

function findGrpcFault(response: ServiceResponse): string | undefined {
  const [code, message] = parseGrpcStatus(response);
  if (code === undefined || !SERVER_FAULTS.has(code) || (code === "13" && isExpected(message))) {
    return undefined;
  }
  return `grpc-status ${code}: ${message}`;
}

const isExpected = (message: string): boolean => PROTOCOL_PRESCRIBED.test(message) || UNDECODABLE.test(message);

/** From headers or trailers; for gRPC-Web also from the last message of the body. */
function parseGrpcStatus({ headers, body }: ServiceResponse): readonly [code: string | undefined, message: string] {
  const { "content-type": type = "", "grpc-status": status, "grpc-message": encodedMessage = "" } = headers;
  if (status !== undefined) return [status, decodePercent(encodedMessage)];
  if (!type.startsWith("application/grpc-web")) return [undefined, ""];
  const text = (type.includes("-text") ? Buffer.from(body.toString(), "base64") : body).toString("latin1");
  const message = /grpc-message: ?(.*)\r/i.exec(text)?.[1] ?? "";
  return [/grpc-status: ?(\d+)/i.exec(text)?.[1], decodePercent(message)];
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
