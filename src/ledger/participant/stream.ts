import { WebSocket } from "ws";
import type { JsonValue } from "../../store/store.js";
import { errorFrom, LedgerError } from "./errors.js";
import { type Endpoint, urlOf } from "./http.js";

/** How long a connection may take to open, and a peer to answer a ping, in milliseconds. */
const OPEN_MS = 10_000;
const PING_MS = 10_000;
/** Largest message: one update, which may create many contracts. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
/** Messages that wait to be used before the socket is told to pause, and to go on. */
const HIGH = 1_000;
const LOW = 100;

/**
 * Opens a stream: sends one request, and gives each message that comes back.
 * Ends when the server closes it in order; throws LedgerError where it sends an
 * error, is silent, or the connection is cut. Leaving the loop, or aborting the
 * endpoint, closes it.
 */
export async function* stream(endpoint: Endpoint, path: string, request: JsonValue): AsyncGenerator<JsonValue> {
  const socket = connect(endpoint, path, await endpoint.token());
  const inbox = new Inbox(socket);
  const { signal } = endpoint;
  const abort = () => socket.terminate();
  signal.addEventListener("abort", abort, { once: true });
  try {
    if (signal.aborted) return;
    socket.once("open", () => socket.send(JSON.stringify(request)));
    yield* inbox.messages();
  } finally {
    signal.removeEventListener("abort", abort);
    inbox.close();
  }
}

function connect(endpoint: Endpoint, path: string, token: string | undefined): WebSocket {
  const url = urlOf(endpoint, path);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  const protocols = token === undefined ? [] : ["daml.ws.auth", `jwt.token.${token}`];
  return new WebSocket(url, protocols, {
    handshakeTimeout: OPEN_MS,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
    ...(endpoint.ca === undefined ? {} : { ca: endpoint.ca }),
  });
}

/** The messages of a socket in their order, with a bound on how many wait, and the reason why there are no more. */
class Inbox {
  readonly #socket: WebSocket;
  readonly #waiting: string[] = [];
  #end: LedgerError | "closed" | undefined;
  #wake: () => void = () => undefined;
  readonly #pings: NodeJS.Timeout;
  #alive = true;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on("message", (data: Buffer) => this.#put(data.toString()));
    socket.on("pong", () => {
      this.#alive = true;
    });
    socket.on("unexpected-response", (_request, response) => {
      response.resume();
      const status = response.statusCode ?? 0;
      this.#stop(errorFrom(undefined, status) ?? new LedgerError("refused", `status ${status}`));
      socket.terminate();
    });
    socket.on("error", (error) => this.#stop(new LedgerError("lost", `the stream broke: ${error.message}`)));
    socket.on("close", (code) => {
      this.#stop(code === 1000 ? "closed" : new LedgerError("lost", `the stream was cut (close code ${code})`));
    });
    this.#pings = setInterval(() => this.#ping(), PING_MS);
  }

  async *messages(): AsyncGenerator<JsonValue> {
    for (;;) {
      const next = this.#waiting.shift();
      if (next !== undefined) {
        if (this.#waiting.length < LOW && this.#socket.isPaused) this.#socket.resume();
        yield message(next);
      } else if (this.#end === undefined) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      } else if (this.#end === "closed") {
        return;
      } else {
        throw this.#end;
      }
    }
  }

  close(): void {
    clearInterval(this.#pings);
    this.#socket.terminate();
  }

  #put(text: string): void {
    this.#waiting.push(text);
    this.#alive = true;
    if (this.#waiting.length > HIGH) this.#socket.pause();
    this.#wake();
  }

  /** The first reason is the one that counts. */
  #stop(reason: LedgerError | "closed"): void {
    this.#end ??= reason;
    this.#wake();
  }

  #ping(): void {
    if (this.#socket.readyState !== WebSocket.OPEN || this.#socket.isPaused) return;
    if (!this.#alive) {
      this.#stop(new LedgerError("lost", `the participant has been silent, pings included, for ${PING_MS} ms`));
      this.#socket.terminate();
      return;
    }
    this.#alive = false;
    this.#socket.ping();
  }
}

/** A message as JSON. Throws the error that it tells, or that it is none. */
function message(text: string): JsonValue {
  let value: JsonValue;
  try {
    // JSON.parse gives nothing but JSON values.
    value = JSON.parse(text) as JsonValue;
  } catch {
    throw new LedgerError("unreadable", "the participant sent a message that is not JSON");
  }
  const error = errorFrom(value, undefined);
  if (error !== undefined) throw error;
  return value;
}
