import type { Socket } from "node:net";

/** How long a new connection may keep silent, in milliseconds. */
const FIRST_BYTES_MS = 10_000;
/** No HTTP/1.1 method begins like the preface of HTTP/2, `PRI * HTTP/2.0`. */
const PREFACE = Buffer.from("PRI");

/** New connections in cleartext, whose first bytes tell of which version of HTTP they are. */
export class ProtocolSniffer {
  readonly #silent = new Set<Socket>();
  readonly #hand: (socket: Socket, isHttp2: boolean) => void;

  /** `hand` is given each connection paused, with all that it has sent still to be read. */
  constructor(hand: (socket: Socket, isHttp2: boolean) => void) {
    this.#hand = hand;
  }

  /** Takes a new connection. */
  take(socket: Socket): void {
    let seen: Buffer = Buffer.alloc(0);
    const stop = () => {
      this.#silent.delete(socket);
      clearTimeout(timer);
      socket.off("data", onData).off("end", onEnd).off("close", stop);
    };
    const onData = (chunk: Buffer) => {
      seen = Buffer.concat([seen, chunk]);
      const length = Math.min(seen.length, PREFACE.length);
      const fits = seen.subarray(0, length).equals(PREFACE.subarray(0, length));
      if (fits && length < PREFACE.length) return;
      stop();
      socket.pause();
      socket.unshift(seen);
      socket.off("error", ignore);
      this.#hand(socket, fits);
    };
    const onEnd = () => socket.destroy();
    const timer = setTimeout(() => socket.destroy(), FIRST_BYTES_MS);
    this.#silent.add(socket);
    socket.on("error", ignore).on("data", onData).on("end", onEnd).once("close", stop);
  }

  /** Ends those of which nothing is known yet. */
  close(): void {
    for (const socket of this.#silent) socket.destroy();
  }
}

/** A connection that ends before it said anything needs no words. */
function ignore(): void {}
