import type { Socket } from "node:net";
import type { ClientAddress } from "../admission/client-addresses.js";
import type { Connection } from "../admission/connection.js";
import { createMember, FairQueue } from "../admission/fair-queue.js";
import { onTickEnd } from "../fast-path/response-batching.js";

/** Members of Node.js. `node:http2` reads the handle itself, so that `pause` of the socket changes nothing. */
interface Handle {
  readStart(): void;
  readStop(): void;
}

interface Reader {
  readonly handle: Handle;
  /** Brought many requests, some of which still wait. */
  isPaused: boolean;
}

/** A request of another client needs some four turns, from its connection to its response. */
const SHARES = { member: 0, group: 0, waiting: 1, interval: 4 };

/**
 * Node.js handles all HTTP/2 frames of a read at once: 256 requests with many header fields take 25 ms. Connections that
 * bring so many are read one after another, with turns of the event loop for all others in between. Can go when Node.js
 * bounds the streams that a session opens in one read.
 */
export class PacedReading {
  readonly #reads = new FairQueue(SHARES);
  readonly #readers = new WeakMap<ClientAddress, Set<Reader>>();

  /** Runs a job in the next turn of the connection. It must not throw. */
  waitForTurn({ address }: Connection, job: () => void): void {
    this.#reads.add(createMember(address.reads), job);
  }

  /** Call this when Node.js has begun to read an HTTP/2 connection, until it is closed. */
  add(connection: Connection, socket: Socket): void {
    const { _handle: handle } = socket as Socket & { readonly _handle?: Handle | null };
    // The client has already left.
    if (handle === undefined || handle === null) return;
    const { address } = connection;
    const readers = this.#readers.get(address) ?? new Set();
    this.#readers.set(address, readers);
    const reader: Reader = { handle, isPaused: false };
    readers.add(reader);
    socket.once("close", () => readers.delete(reader));
    connection.slowReading = () => this.#pause(connection, reader, readers);
  }

  /** Stops reading a connection until the requests that wait have been handled, and it is its turn. */
  #pause(connection: Connection, reader: Reader, readers: ReadonlySet<Reader>): void {
    if (reader.isPaused) return;
    reader.isPaused = true;
    // Many connections may bring many requests in the same turn: the others of the client are not read in this one.
    for (const { handle } of readers) handle.readStop();
    const resume = () => {
      reader.isPaused = false;
      if (readers.has(reader)) reader.handle.readStart();
    };
    // Not before all requests of this read have been queued.
    onTickEnd(() => {
      for (const { handle, isPaused } of readers) if (!isPaused) handle.readStart();
      connection.waitForTurn(() => this.waitForTurn(connection, resume));
    });
  }
}
