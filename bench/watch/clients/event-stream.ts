/** A stream of server-sent events on an HTTP/1.1 connection of its own. */
import type net from "node:net";
import { encodeHead } from "../../attacks/wire/http1.js";
import type { StreamLog } from "./stream-log.js";

const NEWLINE = 10;
const EVENT_END = Buffer.from("\n\n");
/** The names of event and id are in the first bytes of an event. */
const MAX_START = 200;

export function openEventStream(socket: net.Socket, registrar: string | undefined, log: StreamLog): void {
  const query = registrar === undefined ? "" : `?registrars=${encodeURIComponent(registrar)}`;
  socket.write(encodeHead("GET", `/api/offledger/v1/watch${query}`, { accept: "text/event-stream" }));
  const reader = new EventReader(log);
  socket.on("data", (chunk: Buffer) => reader.read(chunk));
  socket.once("close", () => log.ended("connection closed"));
}

/** Finds the ends of events without decoding them. The chunks of HTTP/1.1 add lines that end in CR LF. */
class EventReader {
  readonly #log: StreamLog;
  #start = "";
  #bytes = 0;
  #endsInNewline = false;

  constructor(log: StreamLog) {
    this.#log = log;
  }

  read(chunk: Buffer): void {
    let at = 0;
    if (this.#endsInNewline && chunk[0] === NEWLINE) {
      this.#finish();
      at = 1;
    }
    for (;;) {
      const end = chunk.indexOf(EVENT_END, at);
      this.#add(chunk, at, end === -1 ? chunk.length : end);
      if (end === -1) break;
      this.#finish();
      at = end + EVENT_END.length;
    }
    this.#endsInNewline = at < chunk.length && chunk.at(-1) === NEWLINE;
    if (this.#start.startsWith("HTTP/1.1 ") && !this.#start.startsWith("HTTP/1.1 200")) this.#log.ended(this.#start);
  }

  #add(chunk: Buffer, from: number, to: number): void {
    const missing = MAX_START - this.#start.length;
    if (missing > 0) this.#start += chunk.toString("latin1", from, Math.min(to, from + missing));
    this.#bytes += to - from;
  }

  #finish(): void {
    const [, type, offset] = /event: (\w+)\nid: (\d+)/.exec(this.#start) ?? [];
    // The first block of a stream, which has the head of the response, is no event.
    if (type !== undefined) this.#log.receive(type, Number(offset), this.#bytes);
    this.#start = "";
    this.#bytes = 0;
  }
}
