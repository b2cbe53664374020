import type http from "node:http";
import { constants, type Http2ServerRequest, type ServerHttp2Session } from "node:http2";
import type { Socket } from "node:net";
import type { Budgets } from "../admission/budgets.js";
import { AddressList } from "../admission/address-list.js";
import { type ClientAddress, ClientAddresses } from "../admission/client-addresses.js";
import { Connection, connectionOf, registerConnection } from "../admission/connection.js";
import type { ConnectionLimits } from "./limits.js";

export type Handler = (request: http.IncomingMessage, response: http.ServerResponse) => void;

/** Connections beyond the limit, each for a moment. */
const DEFAULT_RESERVE = 16;
const RESERVE_MS = 2_000;
/** Connections whose end has begun. The oldest are cut. */
const MAX_LEAVING = 256;

/** The open connections, and how many each client may have. */
export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #budgets: Budgets;
  readonly #proxies: AddressList;
  readonly #addresses = new ClientAddresses();
  readonly #leaving = new Set<Connection>();
  #open = 0;

  constructor(limits: ConnectionLimits, budgets: Budgets, proxies: readonly string[]) {
    this.#limits = limits;
    this.#proxies = new AddressList(proxies);
    this.#budgets = budgets;
  }

  /** Whether the connection is within the limits; closes it if it is not. */
  accept(socket: Socket): boolean {
    const { maxConnections, reserve = DEFAULT_RESERVE } = this.#limits;
    const address = this.#addresses.get(socket.remoteAddress);
    if (this.#open >= maxConnections + reserve || this.#hasTooMany(address, socket)) {
      this.#addresses.release(address);
      socket.destroy();
      return false;
    }
    // A client may reset the connection while it waits, before anybody else listens.
    socket.on("error", ignore);
    const connection = new Connection(socket, address, this.#budgets);
    connection.isProxy = this.#isProxy(socket);
    registerConnection(socket, connection);
    address.connections++;
    this.#open++;
    socket.once("close", () => this.#remove(connection));
    if (this.#open > maxConnections) this.#addToReserve(connection);
    return true;
  }

  /** TLS has been established on an accepted connection. */
  secure(tcp: Socket, secured: Socket): void {
    const connection = connectionOf({ socket: tcp });
    connection?.useSocket(secured);
    if (connection !== undefined) registerConnection(secured, connection);
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

  handleHttp1(request: http.IncomingMessage, response: http.ServerResponse, handler: Handler): void {
    const connection = connectionOf(request);
    if (connection === undefined) return;
    // Only a client that pipelines and takes no responses gets here.
    if (!connection.mayBegin()) return connection.destroy();
    connection.beginRequest(response);
    if (connection.isReserve) response.shouldKeepAlive = false;
    handler(request, response);
  }

  handleHttp2(request: Http2ServerRequest, handle: () => void): void {
    const connection = connectionOf(request);
    if (connection === undefined) return;
    // Unlike a response, a reset needs no window of the client. It says that a retry is safe.
    if (!connection.mayBegin() || connection.isOverShare()) {
      connection.countRefusal();
      return request.stream.close(constants.NGHTTP2_REFUSED_STREAM);
    }
    connection.beginRequest(request.stream);
    handle();
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
