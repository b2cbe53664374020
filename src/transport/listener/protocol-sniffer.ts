import type { Socket } from "node:net";

const FIRST_BYTES_MS = 10_000;
/** The HTTP/2 preface is `PRI * HTTP/2.0`; no HTTP/1.1 method starts with these bytes. */
const PREFACE = Buffer.from("PRI");

/** Detects the HTTP version of a cleartext connection by its first bytes. */
export class ProtocolSniffer {
  readonly #pending = new Set<Socket>();
  readonly #dispatch: (socket: Socket, isHttp2: boolean) => void;

  /** `dispatch` gets each connection paused, with everything that it has sent still unread. */
  constructor(dispatch: (socket: Socket, isHttp2: boolean) => void) {
    this.#dispatch = dispatch;
  }

  accept(socket: Socket): void {
    let received: Buffer = Buffer.alloc(0);
    const stop = () => {
      this.#pending.delete(socket);
      clearTimeout(timer);
      socket.off("data", onData).off("end", onEnd).off("close", stop);
    };
    const onData = (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      const length = Math.min(received.length, PREFACE.length);
      const isHttp2 = received.subarray(0, length).equals(PREFACE.subarray(0, length));
      if (isHttp2 && length < PREFACE.length) return;
      stop();
      socket.pause();
      socket.unshift(received);
      socket.off("error", ignore);
      this.#dispatch(socket, isHttp2);
    };
    const onEnd = () => socket.destroy();
    const timer = setTimeout(() => socket.destroy(), FIRST_BYTES_MS);
    this.#pending.add(socket);
    socket.on("error", ignore).on("data", onData).on("end", onEnd).once("close", stop);
  }

  close(): void {
    for (const socket of this.#pending) socket.destroy();
  }
}

/** A connection that fails before its first request is not worth a log line. */
function ignore(): void {}
