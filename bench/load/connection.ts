/** An HTTP/1.1 connection that sends one request at a time. */
import net from "node:net";

/** Receives the chunks of all connections; each is read before the next arrives. */
const chunks = Buffer.alloc(64 * 1024);

/** The end of a response in chunks. */
export const LAST_CHUNK = "0\r\n\r\n";

export class Connection {
  readonly #socket: net.Socket;
  #head = "";
  /** Bytes of the body still to come; -1 until the head is complete. */
  #remaining = -1;
  #done: (status: number) => void = () => undefined;
  #status = 0;
  readonly #fail: (error: Error) => void;
  readonly #expected: readonly number[];

  /** Calls `fail` when the connection breaks, and for a response whose status is not `expected`. */
  static open(url: string, fail: (error: Error) => void, expected: readonly number[] = [200]): Promise<Connection> {
    const { hostname, port } = new URL(url);
    return new Promise((resolve, reject) => {
      let connection: Connection | undefined;
      // `onread` spares a buffer per chunk, and so the load most of its garbage collections.
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
        connection = new Connection(socket, fail, expected);
        resolve(connection);
      });
    });
  }

  private constructor(socket: net.Socket, fail: (error: Error) => void, expected: readonly number[]) {
    this.#socket = socket;
    this.#expected = expected;
    this.#fail = fail;
    socket.on("error", fail);
  }

  /** Sends a request; calls `done` with the status once the whole response has arrived. */
  send(request: Buffer, done: (status: number) => void): void {
    this.#head = "";
    this.#remaining = -1;
    this.#done = done;
    this.#socket.write(request);
  }

  close(): void {
    this.#socket.destroy();
  }

  #receive(length: number): void {
    let body = length;
    if (this.#remaining === -1) {
      const before = this.#head.length;
      this.#head += chunks.toString("latin1", 0, Math.min(length, 2048));
      const end = this.#head.indexOf("\r\n\r\n");
      if (end === -1) return;
      this.#status = Number(this.#head.slice(9, 12));
      if (!this.#expected.includes(this.#status)) {
        this.#fail(new Error(this.#head));
        return;
      }
      // A response without a length has chunks; the last one is empty.
      this.#remaining = Number(/content-length: (\d+)/i.exec(this.#head)?.[1] ?? Number.POSITIVE_INFINITY);
      body = before + length - end - 4;
    }
    this.#remaining -= body;
    const isOver =
      this.#remaining === Number.POSITIVE_INFINITY
        ? chunks.toString("latin1", Math.max(0, length - LAST_CHUNK.length), length) === LAST_CHUNK
        : this.#remaining <= 0;
    if (isOver) this.#done(this.#status);
  }
}

export class FirstFailure {
  readonly rejection: Promise<never>;
  readonly report: (error: Error) => void;

  constructor() {
    let report: FirstFailure["report"] | undefined;
    this.rejection = new Promise((_resolve, reject) => (report = reject));
    // An error after the end of a load has no one waiting for it.
    this.rejection.catch(() => undefined);
    this.report = (error) => report?.(error);
  }
}

export function encodePost(path: string, contentType: string, body: Uint8Array | string): Buffer {
  const bytes = Buffer.from(body as string);
  const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${contentType}\r\nContent-Length: ${bytes.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), bytes]);
}

const HOST = "\r\nHost: localhost\r\n";

/** The same request from a client that accepts gzip. */
export const acceptingGzip = (request: Buffer): Buffer => withHeader(request, "Accept-Encoding: gzip");

/** The same request with one more header, `Name: value`. */
export function withHeader(request: Buffer, header: string): Buffer {
  const head = request.toString("latin1", 0, request.indexOf("\r\n\r\n"));
  const longer = head.replace(HOST, `${HOST}${header}\r\n`);
  return Buffer.concat([Buffer.from(longer, "latin1"), request.subarray(head.length)]);
}
