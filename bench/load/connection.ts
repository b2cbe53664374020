/** A connection over HTTP/1.1 that sends one request, and the next when it has the whole answer. */
import net from "node:net";

/** What comes on any connection, which is looked at before the next comes. */
const chunks = Buffer.alloc(64 * 1024);

export class Connection {
  readonly #socket: net.Socket;
  #head = "";
  /** Bytes of the body that have not come; -1 where the head has not either. */
  #left = -1;
  #done: (status: number) => void = () => undefined;
  #status = 0;
  readonly #failed: (error: Error) => void;
  readonly #expected: readonly number[];

  /** `failed` is told of a connection that breaks, and of an answer whose status is not among those that are `expected`. */
  static open(url: string, failed: (error: Error) => void, expected: readonly number[] = [200]): Promise<Connection> {
    const { hostname, port } = new URL(url);
    return new Promise((resolve, reject) => {
      let connection: Connection | undefined;
      // A buffer for each chunk would be what the load's own collections of garbage are made of.
      const callback = (length: number): boolean => {
        if (connection !== undefined) connection.#receive(length);
        return true;
      };
      const socket = net.connect({
        host: hostname,
        port: Number(port),
        noDelay: true,
        onread: { buffer: chunks, callback },
      });
      socket.once("error", reject);
      socket.once("connect", () => {
        socket.off("error", reject);
        connection = new Connection(socket, failed, expected);
        resolve(connection);
      });
    });
  }

  private constructor(socket: net.Socket, failed: (error: Error) => void, expected: readonly number[]) {
    this.#socket = socket;
    this.#expected = expected;
    this.#failed = failed;
    socket.on("error", failed);
  }

  /** Sends a request; `done` is called with the status of its answer when all of it is there. */
  send(request: Buffer, done: (status: number) => void): void {
    this.#head = "";
    this.#left = -1;
    this.#done = done;
    this.#socket.write(request);
  }

  close(): void {
    this.#socket.destroy();
  }

  /** So many bytes have come, and stand in `chunks` until this ends. */
  #receive(length: number): void {
    let body = length;
    if (this.#left === -1) {
      const before = this.#head.length;
      this.#head += chunks.toString("latin1", 0, Math.min(length, 2048));
      const end = this.#head.indexOf("\r\n\r\n");
      if (end === -1) return;
      this.#status = Number(this.#head.slice(9, 12));
      if (!this.#expected.includes(this.#status)) {
        this.#failed(new Error(this.#head));
        return;
      }
      this.#left = Number(/content-length: (\d+)/i.exec(this.#head)?.[1] ?? Number.NaN);
      body = before + length - end - 4;
    }
    this.#left -= body;
    if (this.#left <= 0) this.#done(this.#status);
  }
}

/** What connections tell when they fail, as a promise that does nothing else. */
export class Failure {
  readonly told: Promise<never>;
  readonly tell: (error: Error) => void;

  constructor() {
    let tell: Failure["tell"] | undefined;
    this.told = new Promise((_resolve, reject) => (tell = reject));
    // Who does not wait for it any more has heard enough.
    this.told.catch(() => undefined);
    this.tell = (error) => tell?.(error);
  }
}

/** The bytes of a POST. */
export function post(path: string, contentType: string, body: Uint8Array | string): Buffer {
  const bytes = Buffer.from(body as string);
  const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${contentType}\r\nContent-Length: ${bytes.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), bytes]);
}
