import { WebSocket } from "ws";
import type { JsonValue } from "../../domain/json.js";
import { LedgerError, messageError } from "./errors.js";
import { DEFAULT_TIMEOUTS, type Endpoint, endpointUrl, forgetDeniedToken, readToken, type Timeouts } from "./http.js";
import { MessageQueue } from "./message-queue.js";

/** The largest message is one update, which may create many contracts. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

/** Opens a stream, yields its messages, and closes it when the loop is left. */
export async function* streamMessages(...args: Parameters<typeof MessageStream.open>): AsyncGenerator<JsonValue> {
  const stream = await MessageStream.open(...args);
  try {
    yield* stream;
  } finally {
    stream.close();
  }
}

/** A WebSocket stream of one response. Ends if the server closes normally, else throws LedgerError. Must be closed. */
export class MessageStream implements AsyncIterable<JsonValue> {
  readonly #endpoint: Endpoint;
  readonly #queue: MessageQueue;
  readonly #abort: () => void;

  /** Resolves when the server has accepted the stream. A bounded stream also fails if no message comes for too long. */
  static async open(endpoint: Endpoint, path: string, request: JsonValue, isBounded: boolean): Promise<MessageStream> {
    const timeouts = { ...DEFAULT_TIMEOUTS, ...endpoint.timeouts };
    const token = await readToken(endpoint);
    if (endpoint.signal.aborted) throw new LedgerError("lost", "the service is closing its connections");
    const socket = connect(endpoint, path, token, timeouts);
    const stream = new MessageStream(endpoint, socket, timeouts.ping, isBounded ? timeouts.message : Infinity);
    socket.once("open", () => socket.send(JSON.stringify(request)));
    try {
      await stream.#queue.opened();
      return stream;
    } catch (error) {
      stream.close();
      throw stream.#checkDenied(error);
    }
  }

  private constructor(endpoint: Endpoint, socket: WebSocket, pingMs: number, messageMs: number) {
    this.#endpoint = endpoint;
    this.#queue = new MessageQueue(socket, pingMs, messageMs);
    this.#abort = () => socket.terminate();
    endpoint.signal.addEventListener("abort", this.#abort, { once: true });
  }

  get hasEnded(): boolean {
    return this.#queue.hasEnded;
  }

  isResponsive(): Promise<boolean> {
    return this.#queue.isResponsive();
  }

  close(): void {
    this.#endpoint.signal.removeEventListener("abort", this.#abort);
    this.#queue.close();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<JsonValue> {
    try {
      for await (const text of this.#queue.messages()) yield parseMessage(text);
    } catch (error) {
      throw this.#checkDenied(error);
    }
  }

  #checkDenied(error: unknown): unknown {
    return error instanceof LedgerError ? forgetDeniedToken(this.#endpoint, error) : error;
  }
}

function connect(endpoint: Endpoint, path: string, token: string | undefined, { open }: Timeouts): WebSocket {
  const url = endpointUrl(endpoint, path);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  // A participant sees a token in the first place only. It selects daml.ws.auth even without a token.
  const protocols = [...(token === undefined ? [] : [`jwt.token.${token}`]), "daml.ws.auth"];
  return new WebSocket(url, protocols, {
    handshakeTimeout: open,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
    ...(token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } }),
    ...(endpoint.ca === undefined ? {} : { ca: endpoint.ca }),
  });
}

function parseMessage(text: string): JsonValue {
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch {
    throw new LedgerError("unreadable", "the participant sent a message that is not JSON");
  }
  const error = messageError(value);
  if (error !== undefined) throw error;
  return value;
}
