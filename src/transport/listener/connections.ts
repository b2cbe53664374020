import type http from "node:http";
import { constants, type Http2ServerRequest, type ServerHttp2Session } from "node:http2";
import type { Socket } from "node:net";
import type { Budgets } from "../admission/budgets.js";
import { AddressList } from "../admission/address-list.js";
import { type ClientAddress, ClientAddresses } from "../admission/client-addresses.js";
import { Connection, connectionOf, registerConnection } from "../admission/connection.js";
import { createMember, FairQueue } from "../admission/fair-queue.js";
import { deferArrival } from "../admission/arrivals.js";
import type { ConnectionLimits } from "./limits.js";
import { countHttp2Requests, isOneRequest } from "./first-bytes.js";
import { PacedReading } from "./paced-reading.js";
import { readInSlices, SLICE_BYTES } from "./sliced-reading.js";

export type Handler = (request: http.IncomingMessage, response: http.ServerResponse) => void;

/** When more requests of a connection wait, or an HTTP/2 connection begins with more, later reads bring less or wait. */
const MAX_WAITING = 16;
/** Connections beyond the limit, each for a moment. */
const DEFAULT_RESERVE = 16;
const RESERVE_MS = 2_000;
/** Connections whose end has begun. The oldest are cut. */
const MAX_LEAVING = 256;

const REQUEST_SHARES = { member: 16, group: 256, waiting: Infinity };
/** The first read of a connection may bring 64 KiB at once. */
const ACCEPT_SHARES = { member: 1, group: 8, waiting: 8 };

/** The open connections: how many each client may have, and when their requests are handled. */
export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #budgets: Budgets;
  readonly #proxies: AddressList;
  readonly #addresses = new ClientAddresses();
  readonly #accepting = new FairQueue(ACCEPT_SHARES);
  readonly #requests = new FairQueue(REQUEST_SHARES);
  readonly #pacedReading = new PacedReading();
  readonly #leaving = new Set<Connection>();
  #open = 0;
  #isDraining = false;

  constructor(limits: ConnectionLimits, budgets: Budgets, proxies: readonly string[]) {
    this.#limits = limits;
    this.#proxies = new AddressList(proxies);
    this.#budgets = budgets;
  }

  /** Open connections and requests under way. */
  get load(): number {
    return this.#open + this.#leaving.size + this.#budgets.requests.used;
  }

  /** Calls `start` when the connection may be read; closes one over the limits. */
  accept(socket: Socket, start: () => void): void {
    const { maxConnections, reserve = DEFAULT_RESERVE } = this.#limits;
    const address = this.#addresses.get(socket.remoteAddress);
    if (this.#open >= maxConnections + reserve || this.#hasTooMany(address, socket)) {
      this.#addresses.release(address);
      socket.destroy();
      return;
    }
    // A client may reset the connection while it waits, before anybody else listens.
    socket.on("error", ignore);
    const connection = new Connection(socket, address, this.#budgets, this.#requests);
    connection.isProxy = this.#isProxy(socket);
    registerConnection(socket, connection);
    address.connections++;
    this.#open++;
    this.#requests.accepted();
    socket.once("close", () => this.#remove(connection));
    if (this.#open > maxConnections) this.#addToReserve(connection);
    const member = createMember(address.accepts);
    if (this.#accepting.mayRun(member)) start();
    else this.#accepting.add(member, () => this.#startLate(socket, start));
  }

  /** Closes the connections that wait to be read. */
  drain(): void {
    this.#isDraining = true;
  }

  /** TLS has been established on an accepted connection. */
  secure(tcp: Socket, secured: Socket): void {
    const connection = connectionOf({ socket: tcp });
    connection?.useSocket(secured);
    if (connection !== undefined) registerConnection(secured, connection);
  }

  /**
   * Call this when Node.js has accepted an HTTP/1.1 connection, and before it is read. `received` is what its buffer
   * holds; empty over TLS, where nothing has been read.
   */
  readHttp1(socket: Socket, received: Buffer): void {
    const connection = connectionOf({ socket });
    if (connection === undefined) return;
    // A client that floods begins with many bytes, and so does one whose first request is large.
    if (received.length > SLICE_BYTES && !isOneRequest(received)) return readInSlices(socket, connection);
    connection.slowReading = () => {
      connection.slowReading = ignore;
      setImmediate(() => socket.destroyed || readInSlices(socket, connection));
    };
  }

  /** Calls `start` when Node.js may read an HTTP/2 connection that has sent `received`. */
  readHttp2(socket: Socket, received: Buffer, start: () => void): void {
    const connection = connectionOf({ socket });
    if (connection === undefined) return;
    const read = () => {
      start();
      this.#pacedReading.add(connection, socket);
    };
    if (countHttp2Requests(received) <= MAX_WAITING) read();
    else this.#pacedReading.waitForTurn(connection, () => this.#startLate(socket, read));
  }

  /** The end of a connection has begun: it counts no more, and may not last. */
  leave(connection: Connection): void {
    if (connection.isLeaving || connection.isClosed) return;
    connection.isLeaving = true;
    this.#count(connection, -1);
    this.#leaving.add(connection);
    if (this.#leaving.size <= MAX_LEAVING) return;
    const [oldest] = this.#leaving;
    oldest?.destroy();
  }

  /** Handles a request in its turn. */
  handleHttp1(request: http.IncomingMessage, response: http.ServerResponse, handler: Handler): void {
    const connection = connectionOf(request);
    if (connection === undefined) return;
    // Only a client that pipelines and takes no responses gets here.
    if (!connection.mayBegin()) return connection.destroy();
    connection.beginRequest(response);
    // One read may bring 10,000 chunks.
    if (request.headers["transfer-encoding"] !== undefined) connection.slowReading();
    if (connection.isReserve) response.shouldKeepAlive = false;
    // A pipelined response has no socket until its predecessors are sent.
    const isPipelined = response.socket === null;
    const mayRun = this.#mayRun(connection);
    if (isPipelined) {
      if (connection.waiting.length > MAX_WAITING) connection.slowReading();
      const handle = () => {
        connection.beginPipelined(response);
        handler(request, response);
      };
      if (mayRun) handle();
      else this.#defer(connection, request, handle);
    } else if (mayRun) handler(request, response);
    else this.#defer(connection, request, () => handler(request, response));
  }

  handleHttp2(request: Http2ServerRequest, handle: () => void): void {
    const connection = connectionOf(request);
    if (connection === undefined) return;
    // Unlike a response, a reset needs no window of the client. It says that a retry is safe.
    if (!connection.mayBegin() || connection.isOverShare()) {
      connection.countRefusal();
      // The client may answer each refusal with another request.
      connection.slowReading();
      return request.stream.close(constants.NGHTTP2_REFUSED_STREAM);
    }
    connection.beginRequest(request.stream);
    if (this.#mayRun(connection)) return handle();
    this.#defer(connection, request, () => request.stream.closed || handle());
    if (connection.waiting.length > MAX_WAITING) connection.slowReading();
  }

  /** The session of an accepted connection. */
  registerSession(session: ServerHttp2Session, socket: Socket): Connection | undefined {
    const connection = connectionOf({ socket });
    if (connection !== undefined) registerConnection(session, connection);
    return connection;
  }

  #hasTooMany({ connections }: ClientAddress, socket: Socket): boolean {
    const { maxConnectionsPerClient: max } = this.#limits;
    return max > 0 && connections >= max && !this.#isProxy(socket);
  }

  #isProxy({ remoteAddress = "" }: Socket): boolean {
    return this.#proxies.has(remoteAddress);
  }

  #startLate(socket: Socket, start: () => void): void {
    if (this.#isDraining) socket.destroy();
    else if (!socket.destroyed) start();
  }

  /** When the budget is scarce, requests do not wait for new connections: those to be refused would use it up. */
  #mayRun(connection: Connection): boolean {
    return this.#requests.mayRun(connection, this.#budgets.requests.isScarce);
  }

  #defer(connection: Connection, request: object, handle: () => void): void {
    deferArrival(request, connection.isOverBudget());
    this.#requests.add(connection, handle);
  }

  #addToReserve(connection: Connection): void {
    connection.isReserve = true;
    const timer = setTimeout(() => connection.destroy(), RESERVE_MS);
    connection.onClose(() => clearTimeout(timer));
  }

  #remove(connection: Connection): void {
    this.#leaving.delete(connection);
    if (!connection.isLeaving) this.#count(connection, -1);
    this.#addresses.release(connection.address);
  }

  #count({ address }: Connection, change: number): void {
    this.#open += change;
    address.connections += change;
  }
}

function ignore(): void {}
