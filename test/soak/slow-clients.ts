/** Slow and aborting clients of HTTP/1.1 and HTTP/2, which control each byte. */
import http2 from "node:http2";
import net from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { fromBinary, fromJson, toBinary, toJson } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import type { Call, Outcome } from "../fixtures/protocols.js";
import type { Random } from "../ingest/database/random.js";
import type { Oracle } from "./oracle.js";
import { type Query, toCall } from "./queries.js";
import type { RequestLoad } from "./request-load.js";

interface Context {
  readonly url: string;
  readonly random: Random;
  readonly oracle: Oracle;
  readonly createQuery: () => Query;
  readonly record: RequestLoad["record"];
  readonly pause: (milliseconds: number) => Promise<unknown>;
  readonly signal: AbortSignal;
}

type Http1Client = (socket: net.Socket, context: Context) => Promise<void>;
type Http2Client = (session: http2.ClientHttp2Session, context: Context) => Promise<void>;

const CONCURRENCY = 16;
/** Bytes that are sent one by one; the ones before are sent at once. */
const MAX_SINGLE_BYTES = 200;

/** How long a slow request takes. Some take longer than the service's request timeout. */
const longMs = (random: Random): number => (random.below(6) === 0 ? 35_000 : 1_000 + random.below(8_000));

const waitForClose = (one: net.Socket | http2.ClientHttp2Stream | http2.ClientHttp2Session): Promise<unknown> =>
  (one instanceof net.Socket ? one.closed : one.destroyed)
    ? Promise.resolve()
    : new Promise((resolve) => void one.once("close", resolve));

const http1Clients: Readonly<Record<string, Http1Client>> = {
  /** Sends a request byte by byte from a random position on. */
  async sendSlowly(socket, { random, oracle, createQuery, record, pause }) {
    const query = createQuery();
    const bytes = encodeHttp1(toCall(query), true);
    const chunks: Buffer[] = [];
    socket.on("data", (chunk: Buffer) => chunks.push(chunk));
    const from = random.below(bytes.length);
    const max = Math.min(from + MAX_SINGLE_BYTES, bytes.length);
    const duration = longMs(random);
    const sent = oracle.recordSent();
    socket.write(bytes.subarray(0, from));
    for (let at = from; at < max && !socket.closed; at++) {
      await pause(duration / MAX_SINGLE_BYTES);
      socket.write(bytes.subarray(at, at + 1));
    }
    socket.write(bytes.subarray(max));
    await Promise.race([waitForClose(socket), pause(20_000)]);
    const outcome = decodeHttp1(Buffer.concat(chunks));
    if (outcome !== undefined) record("slow HTTP/1.1", query, outcome, sent);
  },

  /** Pipelines many requests and reads the responses in small portions. */
  async readSlowly(socket, { random, createQuery, pause }) {
    let isOver = false;
    socket.on("data", () => {
      socket.pause();
      void delay(100).then(() => isOver || socket.resume());
    });
    socket.write(Buffer.concat(Array.from({ length: 150 }, () => encodeHttp1(toCall(createQuery()), false))));
    await Promise.race([waitForClose(socket), pause(2_000 + random.below(10_000))]);
    isOver = true;
  },

  /** Sends nothing, or a prefix that may still be HTTP/1.1 or HTTP/2. */
  async staySilent(socket, { random, pause }) {
    socket.write(["", "P", "PR", "PRI * HTTP/2"][random.below(4)] ?? "");
    await Promise.race([waitForClose(socket), pause(random.below(15_000))]);
  },

  /** Closes the connection within a request, with FIN or a reset. */
  async abortRequest(socket, { random, createQuery, pause }) {
    const bytes = encodeHttp1(toCall(createQuery()), false);
    socket.write(bytes.subarray(0, random.below(bytes.length)));
    await pause(random.below(1_000));
    if (random.below(2) === 0) socket.resetAndDestroy();
    else socket.end();
    await Promise.race([waitForClose(socket), pause(2_000)]);
  },

  /** Resets the connection after the first bytes of many responses. */
  async abortResponses(socket, { createQuery, pause }) {
    socket.once("data", () => socket.resetAndDestroy());
    socket.write(Buffer.concat(Array.from({ length: 30 }, () => encodeHttp1(toCall(createQuery()), false))));
    await Promise.race([waitForClose(socket), pause(5_000)]);
  },
};

const http2Clients: Readonly<Record<string, Http2Client>> = {
  async sendSlowlyHttp2(session, { random, oracle, createQuery, record, pause }) {
    const query = createQuery();
    const call = toCall(query);
    const bytes = encodeGrpc(call);
    const sent = oracle.recordSent();
    const stream = openStream(session, call);
    const chunks: Buffer[] = [];
    let trailers: http2.IncomingHttpHeaders = {};
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("response", (head) => (trailers = { ...trailers, ...head }));
    stream.on("trailers", (more) => (trailers = { ...trailers, ...more }));
    const duration = longMs(random);
    for (let at = 0; at < bytes.length && !stream.destroyed; at++) {
      stream.write(bytes.subarray(at, at + 1));
      await pause(duration / bytes.length);
    }
    stream.end();
    await Promise.race([waitForClose(stream), pause(20_000)]);
    const outcome = decodeGrpc(call, Buffer.concat(chunks), trailers);
    if (outcome !== undefined) record("slow gRPC", query, outcome, sent);
  },

  /** Sends many requests and reads no response. Its flow-control window is tiny. */
  async readSlowlyHttp2(session, { random, createQuery, pause }) {
    for (let count = 0; count < 60; count++) {
      const call = toCall(createQuery());
      openStream(session, call).pause().end(encodeGrpc(call));
    }
    await Promise.race([waitForClose(session), pause(2_000 + random.below(10_000))]);
  },

  /** Aborts requests: cancels the stream, or destroys the session. */
  async abortRequestHttp2(session, { random, createQuery, pause }) {
    for (let count = 0; count < 5 && !session.destroyed; count++) {
      const call = toCall(createQuery());
      const bytes = encodeGrpc(call);
      const stream = openStream(session, call);
      stream.write(bytes.subarray(0, random.below(bytes.length)));
      await pause(random.below(200));
      if (random.below(3) > 0) stream.close(http2.constants.NGHTTP2_CANCEL);
    }
  },

  /** Opens a session and up to three requests that never continue. */
  async staySilentHttp2(session, { random, createQuery, pause }) {
    for (let count = random.below(4); count > 0; count--) openStream(session, toCall(createQuery()));
    await Promise.race([waitForClose(session), pause(random.below(15_000))]);
  },
};

const clients: readonly (readonly [name: string, run: (context: Context) => Promise<void>])[] = [
  ...Object.entries(http1Clients).map(([name, use]) => [name, (context: Context) => runHttp1(use, context)] as const),
  ...Object.entries(http2Clients).map(([name, use]) => {
    const settings = name === "readSlowlyHttp2" ? { initialWindowSize: 64 } : {};
    return [name, (context: Context) => runHttp2(use, context, settings)] as const;
  }),
];

export class SlowClients {
  readonly counts: Record<string, number> = {};
  readonly #context: Context;

  constructor(context: Omit<Context, "pause">) {
    const { signal } = context;
    const pause = (ms: number) => delay(ms, undefined, { signal }).catch(() => undefined);
    this.#context = { ...context, pause };
  }

  /** Runs clients of all kinds concurrently until the signal is aborted. */
  async run(): Promise<void> {
    await Promise.all(Array.from({ length: CONCURRENCY }, () => this.#runClients()));
  }

  async #runClients(): Promise<void> {
    const { random, signal, pause } = this.#context;
    while (!signal.aborted) {
      const [name, run] = clients[random.below(clients.length)] ?? [];
      if (name === undefined) return;
      this.counts[name] = (this.counts[name] ?? 0) + 1;
      await run?.(this.#context);
      await pause(100);
    }
  }
}

async function runHttp1(use: Http1Client, context: Context): Promise<void> {
  const { hostname, port } = new URL(context.url);
  const { signal } = context;
  const socket = net.connect({ host: hostname, port: Number(port), noDelay: true, signal });
  socket.on("error", () => undefined);
  try {
    // Also resolves when the signal aborts the connect.
    await new Promise((resolve) => void socket.once("connect", resolve).once("close", resolve));
    await use(socket, context);
  } finally {
    socket.destroy();
  }
}

async function runHttp2(use: Http2Client, context: Context, settings: http2.Settings): Promise<void> {
  const { url, signal } = context;
  const session = http2.connect(url, { settings }).on("error", () => undefined);
  const end = () => session.destroy();
  signal.addEventListener("abort", end, { once: true });
  try {
    await use(session, context);
  } finally {
    signal.removeEventListener("abort", end);
    session.destroy();
  }
}

function openStream(session: http2.ClientHttp2Session, { method }: Call): http2.ClientHttp2Stream {
  const path = `/${method.parent.typeName}/${method.name}`;
  const headers = { ":method": "POST", ":path": path, "content-type": "application/grpc+proto", te: "trailers" };
  return session.request(headers, { endStream: false }).on("error", () => undefined);
}

/** The last request of a connection makes the server close it. */
function encodeHttp1({ path, body }: Call, isLast: boolean): Buffer {
  const text = JSON.stringify(body);
  const head = [
    `POST ${path} HTTP/1.1`,
    "Host: soak",
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(text)}`,
    ...(isLast ? ["Connection: close"] : []),
  ];
  return Buffer.from(`${head.join("\r\n")}\r\n\r\n${text}`);
}

const codes: Readonly<Record<number, Code>> = { 404: Code.NotFound, 409: Code.Aborted, 503: Code.Unavailable };
const byNumber = new Map(Object.values(codes).map((code) => [String(code), code]));

/** The only response of a connection; undefined if it is incomplete or reports a request timeout. */
function decodeHttp1(bytes: Buffer): Outcome | undefined {
  const end = bytes.indexOf("\r\n\r\n");
  if (end === -1) return undefined;
  const head = bytes.toString("latin1", 0, end);
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? Number.NaN);
  const body = bytes.subarray(end + 4);
  const status = Number(head.split(" ")[1]);
  if (status === 408 || !(body.length >= length)) return undefined;
  const answer = JSON.parse(body.toString()) as { readonly error?: string; readonly error_description?: string };
  if (status === 200) return { ok: true, answer: answer as never };
  const message = answer.error_description ?? answer.error ?? "";
  return { ok: false, code: codes[status] ?? Code.Unknown, message: `${status} ${message}`.replace(/^503 /, "") };
}

function encodeGrpc({ method, request }: Call): Buffer {
  const message = toBinary(method.input, fromJson(method.input, request));
  const frame = Buffer.alloc(5 + message.length);
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, 5);
  return frame;
}

function decodeGrpc({ method }: Call, bytes: Buffer, trailers: http2.IncomingHttpHeaders) {
  const status = trailers["grpc-status"];
  if (status === undefined) return undefined;
  if (status === "0") {
    const message = fromBinary(method.output, bytes.subarray(5));
    return { ok: true, answer: toJson(method.output, message, { alwaysEmitImplicit: true }) } satisfies Outcome;
  }
  const message = decodeURIComponent(trailers["grpc-message"] === undefined ? "" : String(trailers["grpc-message"]));
  const code = byNumber.get(String(status)) ?? Code.Unknown;
  return { ok: false, code, message } satisfies Outcome;
}
