/** A client connection of raw frames. */
import type net from "node:net";
import type { Tally } from "../attack.js";
import { BodySender, type RequestBody } from "./body-sender.js";
import * as frames from "./http2-frames.js";
import { FLAG, type Frame, TYPE } from "./http2-frames.js";

const REPLENISH_AT = 2 ** 29;

export interface Http2Options {
  /** Flow-control window for each response; unlimited without it. */
  readonly responseWindow?: number;
  /** Node.js applies the limits of its settings only once the client has acknowledged them. */
  readonly acknowledgesSettings?: boolean;
  /** Called when a response is complete or the server has reset the stream. */
  readonly onStreamEnd?: () => void;
}

export class Http2Connection {
  readonly #socket: net.Socket;
  readonly #tally: Tally;
  readonly #options: Http2Options;
  readonly #bodies: BodySender;
  readonly #open = new Set<number>();
  readonly #reader = new frames.FrameReader();
  #received = 0;
  #nextId = 1;

  constructor(socket: net.Socket, tally: Tally, options: Http2Options = {}) {
    this.#socket = socket;
    this.#tally = tally;
    this.#options = options;
    this.#bodies = new BodySender(socket);
    socket.write(encodeStart(options.responseWindow));
    socket.on("data", (chunk: Buffer) => {
      const { bytesWritten } = socket;
      for (const frame of this.#reader.read(chunk)) this.#receive(frame);
      // Bytes carry the TCP acknowledgement at once; a server that delays small writes (Nagle) would wait 40 ms for it
      // before it sends its next window update.
      if (this.#bodies.isSending && socket.bytesWritten === bytesWritten) socket.write(frames.PRIORITY_FRAME);
    });
  }

  request(block: Buffer, body?: RequestBody): void {
    if (this.#socket.destroyed) return;
    const id = this.#nextId;
    this.#nextId += 2;
    this.#open.add(id);
    this.#tally.requests++;
    this.#socket.write(frames.encodeHeaders(id, block, body === undefined));
    if (body !== undefined) this.#bodies.add(id, body);
  }

  #receive({ type, flags, streamId, payload }: Frame): void {
    const isAck = (flags & FLAG.ack) !== 0;
    switch (type) {
      case TYPE.settings:
        return isAck ? undefined : this.#apply(payload);
      case TYPE.windowUpdate:
        return this.#bodies.widen(streamId, payload.readUInt32BE());
      case TYPE.ping:
        return isAck ? undefined : this.#write(frames.encodeFrame(TYPE.ping, FLAG.ack, 0, payload));
      case TYPE.goaway:
        return this.#tally.answer(`goaway ${payload.readUInt32BE(4)}`);
      case TYPE.reset:
        this.#tally.answer(`reset ${payload.readUInt32BE()}`);
        return this.#end(streamId, true);
      case TYPE.headers:
        this.#tally.answer(frames.statusOf(payload));
        break;
      case TYPE.data:
        this.#replenish(payload.length);
        break;
      default:
        return;
    }
    if ((flags & FLAG.endStream) !== 0) this.#end(streamId, false);
  }

  #apply(settings: Buffer): void {
    if (this.#options.acknowledgesSettings !== false) {
      this.#write(frames.encodeFrame(TYPE.settings, FLAG.ack, 0, Buffer.alloc(0)));
    }
    for (let at = 0; at + 6 <= settings.length; at += 6) {
      if (settings.readUInt16BE(at) !== frames.SETTING.initialWindowSize) continue;
      this.#bodies.setInitialWindow(settings.readUInt32BE(at + 2));
    }
  }

  #replenish(bytes: number): void {
    this.#received += bytes;
    if (this.#received < REPLENISH_AT) return;
    this.#write(frames.encodeUint32Frame(TYPE.windowUpdate, 0, this.#received));
    this.#received = 0;
  }

  #end(streamId: number, isReset: boolean): void {
    if (!this.#open.delete(streamId)) return;
    const isIncomplete = this.#bodies.remove(streamId);
    if (isIncomplete && !isReset) this.#write(frames.encodeUint32Frame(TYPE.reset, streamId, frames.CANCEL));
    this.#options.onStreamEnd?.();
  }

  #write(bytes: Buffer): void {
    this.#socket.write(bytes);
  }
}

/** Preface and settings, with all the connection-level window there is. Without a table, responses show their status. */
export function encodeStart(responseWindow = frames.MAX_WINDOW): Buffer {
  return Buffer.concat([
    frames.PREFACE,
    frames.encodeSettings({
      [frames.SETTING.headerTableSize]: 0,
      [frames.SETTING.initialWindowSize]: responseWindow,
    }),
    frames.encodeUint32Frame(TYPE.windowUpdate, 0, frames.MAX_WINDOW - frames.DEFAULT_WINDOW),
  ]);
}
