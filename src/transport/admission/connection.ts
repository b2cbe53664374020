import type { IncomingMessage, ServerResponse } from "node:http";
import { Http2ServerRequest, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import type { Budgets } from "./budgets.js";
import type { ClientAddress } from "./client-addresses.js";
import type { Holder } from "./response-budget.js";
import { WindowCounter } from "./window-counter.js";

/** When half of a budget is used, a connection with so much of it is refused before the others. */
const SCARCE_REQUESTS = 32;
const SCARCE_RESPONSE_BYTES = 256 * 1024;
/** A client address with more than half of the budget of requests leaves a quarter of it to others. */
const ADDRESS_SHARE = 2;
const OTHERS_SHARE = 4;
/** Smaller responses are bounded by the number of requests. */
const SMALL_RESPONSE_BYTES = 16 * 1024;
/** With more bytes of unread responses, further ones over HTTP/2 are written in slices. */
const BACKLOG_BYTES = 1024 * 1024;
/** Maximum small frames, after the first of a body, on an HTTP/2 connection in a second. */
const MAX_SMALL_FRAMES = 5_000;
/** Maximum refused requests of a connection in ten seconds. */
const MAX_REFUSALS = 500;

const CONNECTION = Symbol("connection");
const HELD_BYTES = Symbol("bytes that the client has not taken");
const IS_ENDLESS = Symbol("a stream without end");

/** A property is found faster than an entry of a WeakMap. */
type Key = (Socket | ServerHttp2Session) & { [CONNECTION]?: Connection };
/** The response to a request; over HTTP/2 its stream. */
type Response = (ServerResponse | ServerHttp2Stream) & {
  [CONNECTION]?: Connection;
  [HELD_BYTES]?: number;
  [IS_ENDLESS]?: true;
};

/** A client connection, with what its requests take of the budgets. */
export class Connection implements Holder {
  readonly address: ClientAddress;
  progressAt = 0;
  /** Over the limit of connections: for health requests only. */
  isReserve = false;
  /** Its address is that of a trusted proxy, with the requests of many clients. */
  isProxy = false;
  /** Its end has begun. */
  isLeaving = false;
  #socket: Socket;
  readonly #budgets: Budgets;
  #requests = 0;
  readonly #smallFrames = new WindowCounter(MAX_SMALL_FRAMES, 1_000);
  readonly #refusals = new WindowCounter(MAX_REFUSALS, 10_000);
  #responseBytes = 0;
  #isClosed = false;

  constructor(socket: Socket, address: ClientAddress, budgets: Budgets) {
    this.#socket = socket;
    this.address = address;
    this.#budgets = budgets;
    socket.once("close", () => this.#close());
  }

  /** Responses are written to this socket from now on: that of TLS. */
  useSocket(socket: Socket): void {
    this.#socket = socket;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get budgets(): Budgets {
    return this.#budgets;
  }

  /** Whether the connection may have another request under way. Those with many, or with responses not taken, are refused first. */
  mayBegin(): boolean {
    if (this.#requests >= SCARCE_REQUESTS && this.#budgets.requests.isScarce) return false;
    return this.mayRespond();
  }

  /** Whether the client address has so many requests under way that the rest of the budget is for others. */
  isOverShare(): boolean {
    const { requests } = this.#budgets;
    if (this.isProxy || this.address.underWay <= requests.limit / ADDRESS_SHARE) return false;
    return requests.refuses(requests.limit / OTHERS_SHARE);
  }

  /** Whether a request that has begun is over the budget of all or the share of its address. A true answer counts as a refusal. */
  isOverBudget(): boolean {
    const { requests } = this.#budgets;
    return (requests.used > requests.limit && requests.refuses()) || this.isOverShare();
  }

  /** Whether another response may be made. Many requests of one connection arrive before the first response. */
  mayRespond(): boolean {
    return this.#responseBytes < SCARCE_RESPONSE_BYTES || !this.#budgets.responses.isScarce;
  }

  /** Whether many bytes of responses wait for the client. */
  get hasBacklog(): boolean {
    return this.#responseBytes > BACKLOG_BYTES;
  }

  /** Counts a request until its response is closed. */
  beginRequest(response: Response): void {
    this.#requests++;
    this.address.underWay++;
    this.#budgets.requests.take(1);
    response[CONNECTION] = this;
    // Shared by all requests: a closure for each costs 1 % of a small one.
    response.on("close", endRequest);
  }

  /** Counts a small DATA frame of a body. Node.js handles all frames of a read at once: a connection with too many is closed. */
  countSmallFrame(): void {
    if (this.#smallFrames.add()) this.destroy();
  }

  /** Closes the connection of a client that goes on in spite of refusals. */
  countRefusal(): void {
    if (this.#refusals.add()) this.destroy();
  }

  /** Counts the bytes of a response that waits, until it is closed. */
  holdResponse(response: Response, bytes: number): void {
    if (this.#isClosed || bytes < SMALL_RESPONSE_BYTES) return;
    if (this.#responseBytes === 0) {
      this.progressAt = performance.now();
      this.#budgets.responses.hold(this);
    }
    response[HELD_BYTES] = (response[HELD_BYTES] ?? 0) + bytes;
    this.#responseBytes += bytes;
    this.#budgets.responses.take(bytes);
  }

  /** The response is a stream without end, which counts towards the limit of streams and no longer as a request. */
  beginStream(response: Response): void {
    if (this.#isClosed || response[CONNECTION] !== this) return;
    this.endRequest(response);
    delete response[CONNECTION];
    response[IS_ENDLESS] = true;
  }

  onClose(listener: () => void): void {
    this.#socket.once("close", listener);
  }

  destroy(): void {
    this.#socket.destroy();
  }

  endRequest({ [HELD_BYTES]: bytes = 0 }: Response): void {
    if (this.#isClosed) return;
    this.#requests--;
    this.address.underWay--;
    this.#budgets.requests.release(1);
    if (bytes > 0) this.#releaseResponse(bytes);
  }

  #releaseResponse(bytes: number): void {
    const { responses } = this.#budgets;
    this.progressAt = performance.now();
    this.#responseBytes -= bytes;
    responses.release(bytes);
    if (this.#responseBytes === 0) responses.unhold(this);
  }

  /** Node.js does not close the responses that wait behind another on a connection that ends. */
  #close(): void {
    this.#isClosed = true;
    this.address.underWay -= this.#requests;
    this.#budgets.requests.release(this.#requests);
    this.#budgets.responses.release(this.#responseBytes);
    this.#budgets.responses.unhold(this);
  }
}

function endRequest(this: Response): void {
  this[CONNECTION]?.endRequest(this);
}

export function registerConnection(key: Socket | ServerHttp2Session, connection: Connection): void {
  (key as Key)[CONNECTION] = connection;
}

/** The connection of a request; undefined once it is closed. */
export function connectionOf(request: Pick<IncomingMessage, "socket"> | Http2ServerRequest): Connection | undefined {
  if (!(request instanceof Http2ServerRequest)) return (request.socket as Key)[CONNECTION];
  const session = request.stream.session as Key | undefined;
  return session?.[CONNECTION];
}

/** Whether `beginStream` was called: the response lasts as long as its handler likes. */
export const isEndless = (response: Response): boolean => response[IS_ENDLESS] === true;

/** What `beginRequest` counted: the response, or over HTTP/2 its stream. */
export function responseOf(response: ServerResponse): Response {
  const { stream } = response as ServerResponse & { readonly stream?: ServerHttp2Stream };
  return stream ?? response;
}
