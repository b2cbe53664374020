import { WebSocket } from "ws";
import type { JsonValue } from "../../domain/json.js";
import { LedgerError, messageError } from "./errors.js";
import { type Endpoint, forgetDeniedToken, type Timeouts, DEFAULT_TIMEOUTS, tokenOf, urlOf } from "./http.js";
import { MessageQueue } from "./message-queue.js";

/** Largest message: one update, which may create many contracts. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

/** The messages of a stream from its opening on. Leaving the loop closes it. */
export async function* stream(...of: Parameters<typeof Stream.open>): AsyncGenerator<JsonValue> {
  const opened = await Stream.open(...of);
  try {
    yield* opened;
  } finally {
    opened.close();
  }
}

/**
 * A stream: one request, and each message that comes back. Ends when the server
 * closes it in order; throws LedgerError where it sends an error, is silent, or
 * the connection is cut. To be closed by its owner; aborting the endpoint cuts it.
 */
export class Stream implements AsyncIterable<JsonValue> {
  readonly #endpoint: Endpoint;
  readonly #queue: MessageQueue;
  readonly #abort: () => void;

  /**
   * Ends when the server has accepted the stream, and has been sent the request. A
   * stream that `hasEnd` counts as silent also where pings are answered and
   * messages do not come.
   */
  static async open(endpoint: Endpoint, path: string, request: JsonValue, hasEnd: boolean): Promise<Stream> {
    const waits = { ...DEFAULT_TIMEOUTS, ...endpoint.timeouts };
    const token = await tokenOf(endpoint);
    if (endpoint.signal.aborted) throw new LedgerError("lost", "nothing more is wanted of the participant");
    const socket = connect(endpoint, path, token, waits);
    const opened = new Stream(endpoint, socket, waits.ping, hasEnd ? waits.message : Infinity);
    socket.once("open", () => socket.send(JSON.stringify(request)));
    try {
      await opened.#queue.opened();
      return opened;
    } catch (error) {
      opened.close();
      throw opened.#noted(error);
    }
  }

  private constructor(endpoint: Endpoint, socket: WebSocket, pingMs: number, messageMs: number) {
    this.#endpoint = endpoint;
    this.#queue = new MessageQueue(socket, pingMs, messageMs);
    this.#abort = () => socket.terminate();
    endpoint.signal.addEventListener("abort", this.#abort, { once: true });
  }

  /** Whether nothing more comes behind what waits to be read. */
  get isOver(): boolean {
    return this.#queue.isOver;
  }

  /** Whether the server answers on it now. It cannot be heard where too much waits to be read. */
  answers(): Promise<boolean> {
    return this.#queue.answers();
  }

  close(): void {
    this.#endpoint.signal.removeEventListener("abort", this.#abort);
    this.#queue.close();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<JsonValue> {
    try {
      for await (const text of this.#queue.messages()) yield message(text);
    } catch (error) {
      throw this.#noted(error);
    }
  }

  #noted(error: unknown): unknown {
    return error instanceof LedgerError ? forgetDeniedToken(this.#endpoint, error) : error;
  }
}

function connect(endpoint: Endpoint, path: string, token: string | undefined, { open }: Timeouts): WebSocket {
  const url = urlOf(endpoint, path);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  // A participant answers with the first of these whether or not there is a token, so it has to be offered.
  const protocols = ["daml.ws.auth", ...(token === undefined ? [] : [`jwt.token.${token}`])];
  return new WebSocket(url, protocols, {
    handshakeTimeout: open,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
    ...(endpoint.ca === undefined ? {} : { ca: endpoint.ca }),
  });
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
  const error = messageError(value);
  if (error !== undefined) throw error;
  return value;
}
