/** Closed-loop load: each of fifty connections sends its next request after the whole response. */
import http2 from "node:http2";
import net from "node:net";
import { within } from "../test/fixtures/wait.js";

/** A POST request; without a body a GET. */
export interface Request {
  readonly path: string;
  readonly type: string;
  readonly body?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
}

/** Sends requests for `seconds`, or `max` of them. Throws for a response of another status than expected. */
export type Load = (url: string, seconds: number, max?: number) => Promise<LoadResult>;

const CONNECTIONS = 50;
const DRAIN_MS = 30_000;

/** A connection, or one session of HTTP/2. */
interface Client {
  /** Resolves at the end of the response. */
  send(index: number): Promise<void>;
  close(): void;
}

const loadWith =
  (connect: (url: string) => Promise<Client>): Load =>
  async (url, seconds, max = Number.POSITIVE_INFINITY) => {
    const clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => connect(url)));
    // Waking a process that sleeps costs the server CPU time, so this one stays awake.
    let isOver = false;
    const spin = () => void (isOver || setImmediate(spin));
    spin();
    let requests = 0;
    const startedAt = performance.now();
    const deadline = startedAt + seconds * 1000;
    const run = async (client: Client) => {
      while (performance.now() < deadline && requests < max) await client.send(requests++);
    };
    try {
      await within(seconds * 1000 + DRAIN_MS, `${url} has responded`, Promise.all(clients.map(run)));
      return { requests, seconds: (performance.now() - startedAt) / 1000 };
    } finally {
      isOver = true;
      for (const client of clients) client.close();
    }
  };

/** `requestAt` returns the n-th request. Each has to be answered with `status`. */
export function loadHttp1(requestAt: (index: number) => Buffer, status = 200): Load {
  return loadWith(async (url) => {
    const connection = await Http1Connection.open(url, status);
    return { send: (index) => connection.send(requestAt(index)), close: () => connection.close() };
  });
}

export function encodeHttp1({ path, type, body, headers = {} }: Request): Buffer {
  const bytes = Buffer.from((body ?? "") as string);
  const sent = body === undefined ? {} : { "content-type": type, "content-length": bytes.length };
  const lines = Object.entries({ host: "a", ...sent, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `${body === undefined ? "GET" : "POST"} ${path} HTTP/1.1\r\n${lines.join("")}\r\n`;
  return Buffer.concat([Buffer.from(head), bytes]);
}

/** Receives the chunks of all connections; each is read before the next arrives. */
const chunks = Buffer.alloc(64 * 1024);
const LAST_CHUNK = "0\r\n\r\n";

class Http1Connection {
  readonly #socket: net.Socket;
  readonly #expected: string;
  #head = "";
  /** Bytes of the body still to come; -1 until the head is complete; infinite for a body in chunks. */
  #remaining = -1;
  #resolve: () => void = () => undefined;
  #reject: (error: Error) => void = () => undefined;

  static async open(url: string, status: number): Promise<Http1Connection> {
    const connection = new Http1Connection(new URL(url), status);
    await new Promise<void>((resolve, reject) => {
      connection.#reject = reject;
      connection.#socket.once("connect", resolve);
    });
    return connection;
  }

  private constructor({ hostname, port }: URL, status: number) {
    this.#expected = `HTTP/1.1 ${status} `;
    // `onread` spares a buffer per chunk, and so the load most of its garbage collections.
    const callback = (length: number): boolean => {
      this.#receive(length);
      return true;
    };
    this.#socket = net.connect({
      host: hostname,
      port: Number(port),
      noDelay: true,
      onread: { buffer: chunks, callback },
    });
    this.#socket.on("error", (error) => this.#reject(error));
    this.#socket.on("close", () => this.#reject(new Error("the server has closed the connection")));
  }

  send(request: Buffer): Promise<void> {
    this.#head = "";
    this.#remaining = -1;
    this.#socket.write(request);
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #receive(length: number): void {
    let body = length;
    if (this.#remaining === -1) {
      const before = this.#head.length;
      this.#head += chunks.toString("latin1", 0, Math.min(length, 2048));
      const end = this.#head.indexOf("\r\n\r\n");
      if (end === -1) return;
      if (!this.#head.startsWith(this.#expected)) return this.#reject(new Error(this.#head));
      this.#remaining = Number(/content-length: (\d+)/i.exec(this.#head)?.[1] ?? Number.POSITIVE_INFINITY);
      body = before + length - end - 4;
    }
    this.#remaining -= body;
    const isOver =
      this.#remaining === Number.POSITIVE_INFINITY
        ? chunks.toString("latin1", Math.max(0, length - LAST_CHUNK.length), length) === LAST_CHUNK
        : this.#remaining <= 0;
    if (isOver) this.#resolve();
  }
}

/** gRPC calls. `messageAt` returns the framed message of the n-th. Each has to be answered with `status`. */
export function loadGrpc(
  path: string,
  messageAt: (index: number) => Buffer,
  more: Readonly<Record<string, string>> = {},
  status = "0",
): Load {
  const fixed = { ":method": "POST", ":path": path, "content-type": "application/grpc+proto", te: "trailers" };
  return loadWith((url) => {
    const session = http2.connect(url).on("error", () => undefined);
    return Promise.resolve({
      send: (index) => callUnary(session, { ...fixed, ...more }, messageAt(index), status),
      close: () => session.destroy(),
    });
  });
}

function callUnary(
  session: http2.ClientHttp2Session,
  headers: http2.OutgoingHttpHeaders,
  message: Buffer,
  expected: string,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const stream = session.request(headers);
    let status: unknown;
    stream.on("response", (head) => (status = head["grpc-status"]));
    stream.on("trailers", (trailers) => (status = trailers["grpc-status"]));
    stream.on("error", reject);
    stream.on("end", () => (status === expected ? resolve() : reject(new Error(`grpc-status ${String(status)}`))));
    stream.resume().end(message);
  });
}

export function frameGrpc(message: Uint8Array): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

export interface Measured {
  readonly url: string;
  /** The CPU time of its process so far, in microseconds. */
  cpu(): Promise<number>;
}

/** How long is measured. Small in tests. */
export interface Effort {
  readonly rounds: number;
  /** Of a measurement. */
  readonly seconds: number;
  /** Requests before the first measurement of a case: so many let V8 compile all that they run. */
  readonly warmUp: number;
}

/** The requests of a case that takes milliseconds are not all of them sent. */
const MAX_WARM_UP_SECONDS = 5;

/** Measures the CPU time of a server per request, in microseconds. The first call warms the server up. */
export function cpuPerRequest(server: Measured, load: Load, effort: Effort): () => Promise<number> {
  let warmUp: Promise<unknown> | undefined;
  return async () => {
    warmUp ??= load(server.url, MAX_WARM_UP_SECONDS, effort.warmUp);
    await warmUp;
    const before = await server.cpu();
    const { requests } = await load(server.url, effort.seconds);
    return ((await server.cpu()) - before) / requests;
  };
}
