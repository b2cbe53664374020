import type { IncomingMessage, ServerResponse } from "node:http";
import { Http2ServerRequest, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import type { Budgets } from "./budgets.js";
import type { ClientAddress } from "./client-addresses.js";
import type { FairQueue } from "./fair-queue.js";
import type { Holder } from "./response-budget.js";

/** Of pipelined HTTP/1.1 requests, so many are handled while an earlier response is not sent. */
const MAX_PIPELINED = 8;
/** Of responses that the client does not read, so many bytes may wait in the socket before the next request. */
const MAX_SOCKET_BYTES = 256 * 1024;
/** One connection may hold this part of the budget for responses. */
const RESPONSE_SHARE = 64;

const HELD_BYTES = Symbol("bytes that the client has not taken");

/** The response to a request; over HTTP/2 its stream. */
type Response = (ServerResponse | ServerHttp2Stream) & { [HELD_BYTES]?: number };

/** A client connection, with what its requests take of the budgets. */
export class Connection implements Holder {
  readonly address: ClientAddress;
  /** What waits for a turn of the event loop. */
  readonly waiting: (() => void)[] = [];
  isListed = false;
  /** The turn of the event loop in which `runs` counts. */
  turn = -1;
  runs = 0;
  progressAt = 0;
  /** Over the limit of connections: for health requests only. */
  isReserve = false;
  /** Has sent too many pipelined requests: ends after the responses to those before. */
  isRefused = false;
  /** Its end has begun. */
  isLeaving = false;
  #socket: Socket;
  readonly #budgets: Budgets;
  readonly #queue: FairQueue;
  /** Pipelined requests that are being handled. */
  #pipelined = 0;
  #requests = 0;
  #responseBytes = 0;
  #isClosed = false;

  constructor(socket: Socket, address: ClientAddress, budgets: Budgets, queue: FairQueue) {
    this.#socket = socket;
    this.address = address;
    this.#budgets = budgets;
    this.#queue = queue;
    socket.once("close", () => this.#close());
    socket.on("drain", () => queue.resume(this));
  }

  /** Responses are written to this socket from now on: that of TLS. */
  useSocket(socket: Socket): void {
    this.#socket = socket;
    socket.on("drain", () => this.#queue.resume(this));
  }

  get budgets(): Budgets {
    return this.#budgets;
  }

  /** Whether the client must read responses before further requests are handled. */
  isBlocked(): boolean {
    return (
      this.#pipelined >= MAX_PIPELINED ||
      this.#socket.writableLength > MAX_SOCKET_BYTES ||
      this.#responseBytes > this.#budgets.responses.limit / RESPONSE_SHARE
    );
  }

  /** Runs a job in a later turn of the event loop, when it is this connection's. It must not throw. */
  waitForTurn(job: () => void): void {
    this.#queue.add(this, job);
  }

  /** Counts a request until its response is closed. */
  beginRequest(response: Response): void {
    this.#requests++;
    this.#budgets.requests.take(1);
    response.once("close", () => this.#endRequest(response));
  }

  /** Counts a pipelined request that is being handled. */
  beginPipelined(response: ServerResponse): void {
    this.#pipelined++;
    response.once("close", () => {
      this.#pipelined--;
      this.#queue.resume(this);
    });
  }

  /** Counts the bytes of a response that waits, until it is closed. */
  holdResponse(response: Response, bytes: number): void {
    if (this.#isClosed) return;
    if (this.#responseBytes === 0) {
      this.progressAt = performance.now();
      this.#budgets.responses.hold(this);
    }
    response[HELD_BYTES] = (response[HELD_BYTES] ?? 0) + bytes;
    this.#responseBytes += bytes;
    this.#budgets.responses.take(bytes);
  }

  onClose(listener: () => void): void {
    this.#socket.once("close", listener);
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #endRequest({ [HELD_BYTES]: bytes = 0 }: Response): void {
    if (this.#isClosed) return;
    this.#requests--;
    this.#budgets.requests.release(1);
    if (bytes > 0) this.#releaseResponse(bytes);
  }

  #releaseResponse(bytes: number): void {
    const { responses } = this.#budgets;
    this.progressAt = performance.now();
    this.#responseBytes -= bytes;
    responses.release(bytes);
    if (this.#responseBytes === 0) responses.unhold(this);
    this.#queue.resume(this);
  }

  /** Node.js does not close the responses that wait behind another on a connection that ends. */
  #close(): void {
    this.#isClosed = true;
    this.waiting.length = 0;
    this.#budgets.requests.release(this.#requests);
    this.#budgets.responses.release(this.#responseBytes);
    this.#budgets.responses.unhold(this);
  }
}

const connections = new WeakMap<Socket | ServerHttp2Session, Connection>();

export function registerConnection(key: Socket | ServerHttp2Session, connection: Connection): void {
  connections.set(key, connection);
}

/** The connection of a request; undefined once it is closed. */
export function connectionOf(request: Pick<IncomingMessage, "socket"> | Http2ServerRequest): Connection | undefined {
  if (!(request instanceof Http2ServerRequest)) return connections.get(request.socket);
  const { session } = request.stream;
  return session === undefined ? undefined : connections.get(session as ServerHttp2Session);
}

/** What `beginRequest` counted: the response, or over HTTP/2 its stream. */
export function responseOf(response: ServerResponse): Response {
  const { stream } = response as ServerResponse & { readonly stream?: ServerHttp2Stream };
  return stream ?? response;
}
