/** Watch streams over gRPC on one HTTP/2 connection of raw frames. */
import type net from "node:net";
import { encodeStart } from "../../attacks/wire/http2-connection.js";
import * as frames from "../../attacks/wire/http2-frames.js";
import { FLAG, type Frame, TYPE } from "../../attacks/wire/http2-frames.js";
import { encodeRequest, MessageReader } from "./grpc-messages.js";
import type { StreamLog } from "./stream-log.js";

const REPLENISH_AT = 2 ** 29;
const BLOCK = frames.encodeRequestBlock("POST", "/offledger.watch.v1.WatchService/Watch", {
  "content-type": "application/grpc",
  te: "trailers",
});

interface Stream {
  readonly log: StreamLog;
  readonly reader: MessageReader;
}

export class GrpcConnection {
  readonly #socket: net.Socket;
  readonly #streams = new Map<number, Stream>();
  readonly #frames = new frames.FrameReader();
  #received = 0;
  #nextId = 1;

  /** Streams that do not read have the default window, which is not widened until `resume`. */
  constructor(socket: net.Socket, reads: boolean) {
    this.#socket = socket;
    socket.write(encodeStart(reads ? frames.MAX_WINDOW : frames.DEFAULT_WINDOW));
    socket.on("data", (chunk: Buffer) => {
      for (const frame of this.#frames.read(chunk)) this.#receive(frame);
    });
    socket.once("close", () => {
      for (const { log } of this.#streams.values()) log.ended("connection closed");
    });
  }

  open(registrar: string | undefined, log: StreamLog): void {
    const id = this.#nextId;
    this.#nextId += 2;
    this.#streams.set(id, { log, reader: new MessageReader(log) });
    this.#socket.write(
      Buffer.concat([
        frames.encodeHeaders(id, BLOCK, false),
        frames.encodeFrame(TYPE.data, FLAG.endStream, id, encodeRequest(registrar)),
      ]),
    );
  }

  resume(): void {
    for (const id of this.#streams.keys()) this.#widen(id, frames.MAX_WINDOW - frames.DEFAULT_WINDOW);
  }

  #receive({ type, flags, streamId, payload }: Frame): void {
    const isAck = (flags & FLAG.ack) !== 0;
    const stream = this.#streams.get(streamId);
    switch (type) {
      case TYPE.settings:
        if (!isAck) this.#socket.write(frames.encodeFrame(TYPE.settings, FLAG.ack, 0, Buffer.alloc(0)));
        return;
      case TYPE.ping:
        if (!isAck) this.#socket.write(frames.encodeFrame(TYPE.ping, FLAG.ack, 0, payload));
        return;
      case TYPE.reset:
        stream?.log.ended(`reset ${payload.readUInt32BE()}`);
        return;
      case TYPE.headers:
        // The table is empty, so trailers show their status.
        if ((flags & FLAG.endStream) !== 0) stream?.log.ended(`trailers ${payload.toString("latin1").slice(0, 200)}`);
        return;
      case TYPE.data:
        this.#replenish(payload.length);
        stream?.reader.read(payload);
        return;
      default:
    }
  }

  #replenish(bytes: number): void {
    this.#received += bytes;
    if (this.#received < REPLENISH_AT) return;
    this.#widen(0, this.#received);
    this.#received = 0;
  }

  #widen(streamId: number, increment: number): void {
    this.#socket.write(frames.encodeUint32Frame(TYPE.windowUpdate, streamId, increment));
  }
}
