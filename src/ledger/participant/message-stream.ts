import type { IncomingMessage } from "node:http";
import { WebSocket } from "ws";
import { type JsonValue, isTooDeep, MAX_NESTING } from "../../util/json.js";
import { Notifier, withTimeout } from "../../util/async.js";
import { byWayOf, proxyAgent, readText } from "../../util/outgoing.js";
import { parseJson } from "../json-fields.js";
import { connectionError, LedgerError, messageError } from "./errors.js";
import {
  DEFAULT_TIMEOUTS,
  type Endpoint,
  endpointUrl,
  failedAnswer,
  forgetDeniedToken,
  readToken,
  type Timeouts,
} from "./http.js";

/** The largest message is one update, which may create many contracts. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

/** Bounds of the queue. When one is reached, the socket pauses until a tenth is left. */
const MAX_MESSAGES = 1_000;
const MAX_CHARACTERS = 16 * 1024 * 1024;
const RESUME_FRACTION = 0.1;

/** Of an answer that refuses a stream: its size, and how long it may take after its head. */
const MAX_REFUSAL_BYTES = 64 * 1024;
const REFUSAL_MS = 1_000;

/** Close code that ws reports for a close frame without a code. RFC 6455 section 7.4.1. */
const NO_STATUS = 1005;

/** Opens a stream, yields its messages, and closes it when the loop is left. */
export async function* streamMessages(...args: Parameters<typeof MessageStream.open>): AsyncGenerator<JsonValue> {
  const stream = await MessageStream.open(...args);
  try {
    yield* stream;
  } finally {
    stream.close();
  }
}

/**
 * A stream of one response over a WebSocket, which must be closed. It queues messages until they are read, ends if the
 * server closes normally, and else throws LedgerError. A heartbeat of pings detects a dead connection, so no wait lasts.
 */
export class MessageStream implements AsyncIterable<JsonValue> {
  readonly #heartbeat: NodeJS.Timeout;
  readonly #abort = () => this.close();
  readonly #queue: string[] = [];
  #characters = 0;
  readonly #events = new Notifier();
  #isOpen = false;
  #end: LedgerError | "closed" | undefined;
  #heartbeats = 0;
  #lastPing = 0;
  #lastPong = 0;
  /** Whether anything has arrived since the last ping. */
  #isAlive = true;
  /** Since when the consumer waits for a message; undefined if it does not. */
  #waitingSince: number | undefined;

  /** Resolves when the server has accepted the stream. A bounded stream also fails if no message comes for too long. */
  static async open(endpoint: Endpoint, path: string, request: JsonValue, isBounded: boolean): Promise<MessageStream> {
    const timeouts = { ...DEFAULT_TIMEOUTS, ...endpoint.timeouts };
    endpoint.pace?.check();
    const token = await readToken(endpoint);
    if (endpoint.signal.aborted) throw new LedgerError("lost", "the service is closing its connections");
    const socket = connect(endpointUrl(endpoint, path), endpoint.ca, token, timeouts);
    const stream = new MessageStream(endpoint, token, socket, timeouts.ping, isBounded ? timeouts.message : Infinity);
    socket.once("open", () => socket.send(JSON.stringify(request)));
    try {
      while (!stream.#isOpen) {
        if (stream.#end instanceof LedgerError) throw stream.#end;
        if (stream.#end !== undefined) throw new LedgerError("lost", "the stream was closed before it was open");
        await stream.#events.next;
      }
      return stream;
    } catch (error) {
      stream.close();
      throw error;
    }
  }

  private constructor(
    private readonly endpoint: Endpoint,
    private readonly token: string | undefined,
    private readonly socket: WebSocket,
    pingMs: number,
    private readonly messageMs: number,
  ) {
    socket.on("open", () => {
      this.#isOpen = true;
      this.#events.notify();
    });
    socket.on("message", (data: Buffer) => this.#enqueue(data.toString()));
    socket.on("pong", (data: Buffer) => {
      this.#isAlive = true;
      this.#lastPong = Number(data.toString());
      this.#events.notify();
    });
    const url = new URL(socket.url);
    socket.on("unexpected-response", (_request, response) => void this.#refuse(url, response));
    socket.on("error", (error) => this.#finish(connectionError(error, `the stream failed${byWayOf(url)}`)));
    socket.on("close", (code, reason) => {
      const isNormal = code === 1000 || code === NO_STATUS;
      const said = reason.length === 0 ? "" : `, ${JSON.stringify(reason.toString())}`;
      this.#finish(isNormal ? "closed" : new LedgerError("lost", `the stream was cut (close code ${code}${said})`));
    });
    this.#heartbeat = setInterval(() => this.#beat(), pingMs);
    endpoint.signal.addEventListener("abort", this.#abort, { once: true });
  }

  get hasEnded(): boolean {
    return this.#end !== undefined;
  }

  /** Whether a ping is answered within two heartbeats. False at once if the stream has ended or is paused. */
  async isResponsive(): Promise<boolean> {
    const canRead = () => this.#end === undefined && !this.socket.isPaused;
    if (!canRead()) return false;
    const ping = this.#ping();
    const deadline = this.#heartbeats + 2;
    while (canRead() && this.#lastPong < ping && this.#heartbeats < deadline) await this.#events.next;
    return this.#end === undefined && this.#lastPong >= ping;
  }

  /** Who still reads gets an error, and nothing that is queued: a stream that is cut short must not seem complete. */
  close(): void {
    this.endpoint.signal.removeEventListener("abort", this.#abort);
    clearInterval(this.#heartbeat);
    this.#queue.length = 0;
    this.#end = new LedgerError("lost", "the stream was closed");
    this.#events.notify();
    this.socket.terminate();
  }

  /** Yields queued messages first. */
  async *[Symbol.asyncIterator](): AsyncGenerator<JsonValue> {
    for (;;) {
      const next = this.#queue.shift();
      if (next !== undefined) {
        this.#characters -= next.length;
        if (this.socket.isPaused && !this.#isFuller(RESUME_FRACTION)) {
          // The pong of a ping sent before the pause may still be unread.
          this.#isAlive = true;
          this.socket.resume();
        }
        yield this.#parse(next);
      } else if (this.#end === undefined) {
        this.#waitingSince ??= performance.now();
        await this.#events.next;
      } else if (this.#end === "closed") {
        return;
      } else {
        throw this.#end;
      }
    }
  }

  #parse(text: string): JsonValue {
    const value = parseJson(text);
    if (value === undefined) {
      const problem = isTooDeep(text) ? `nested deeper than ${MAX_NESTING} objects and lists` : "not JSON";
      throw new LedgerError("unreadable", `the participant sent a message that is ${problem}`);
    }
    const error = messageError(value);
    if (error !== undefined) throw forgetDeniedToken(this.endpoint, this.token, error);
    return value;
  }

  #enqueue(text: string): void {
    if (this.#end !== undefined) return;
    this.#queue.push(text);
    this.#characters += text.length;
    this.#isAlive = true;
    this.#waitingSince = undefined;
    if (this.#isFuller(1)) this.socket.pause();
    this.#events.notify();
  }

  #isFuller(fraction: number): boolean {
    return this.#queue.length > MAX_MESSAGES * fraction || this.#characters > MAX_CHARACTERS * fraction;
  }

  /** The server answers the request for a stream with something else. Never rejects. */
  async #refuse(url: URL, response: IncomingMessage): Promise<void> {
    const { statusCode: status = 0, headers } = response;
    const body = readText(response, MAX_REFUSAL_BYTES).catch(() => "");
    const text = await withTimeout(body, REFUSAL_MS, () => "");
    this.#finish(failedAnswer(this.endpoint, url, { status, headers, text }));
    this.socket.terminate();
  }

  #finish(reason: LedgerError | "closed"): void {
    if (this.#end === undefined && reason !== "closed") forgetDeniedToken(this.endpoint, this.token, reason);
    this.#end ??= reason;
    this.#events.notify();
  }

  #beat(): void {
    this.#heartbeats++;
    this.#events.notify();
    // Nothing follows the server's close frame. Do not wait longer for the connection to end.
    if (this.socket.readyState === WebSocket.CLOSING) this.socket.terminate();
    if (this.socket.readyState !== WebSocket.OPEN) return;
    // No pong can be read while the socket is paused. Pings still keep proxies from closing the connection.
    if (!this.socket.isPaused) {
      const waited = this.#waitingSince === undefined ? 0 : performance.now() - this.#waitingSince;
      if (!this.#isAlive || waited > this.messageMs) {
        const missing = this.#isAlive ? "message" : "answer to a ping";
        this.#finish(new LedgerError("lost", `timeout: no ${missing} on a stream of the participant`));
        this.socket.terminate();
        return;
      }
      this.#isAlive = false;
    }
    this.#ping();
  }

  #ping(): number {
    this.socket.ping(String(++this.#lastPing));
    return this.#lastPing;
  }
}

/** Throws LedgerError. */
function connect(url: URL, ca: string | undefined, token: string | undefined, { open }: Timeouts): WebSocket {
  const address = new URL(url);
  address.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  // A participant sees a token in the first place only. It selects daml.ws.auth even without a token.
  const protocols = [...(token === undefined ? [] : [`jwt.token.${token}`]), "daml.ws.auth"];
  try {
    return new WebSocket(address, protocols, {
      handshakeTimeout: open,
      agent: proxyAgent(url),
      maxPayload: MAX_MESSAGE_BYTES,
      perMessageDeflate: false,
      ...(token !== undefined && { headers: { authorization: `Bearer ${token}` } }),
      ...(ca !== undefined && { ca }),
    });
  } catch (error) {
    throw connectionError(error, `${url.origin} cannot be reached`);
  }
}
