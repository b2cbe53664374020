import type { Socket } from "node:net";
import type { Connection } from "../admission/connection.js";
import { createMember, FairQueue } from "../admission/fair-queue.js";
import { onTickEnd } from "../fast-path/response-batching.js";

/** Members of Node.js. `node:http2` reads the handle itself, so that `pause` of the socket changes nothing. */
interface Handle {
  readStart(): void;
  readStop(): void;
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
  readonly #paused = new WeakSet<Connection>();

  /** Runs a job in the next turn of the connection. It must not throw. */
  waitForTurn(connection: Connection, job: () => void): void {
    this.#reads.add(createMember(connection.address.reads), job);
  }

  /** Stops reading a connection until the requests that wait have been handled, and it is its turn. */
  pause(connection: Connection, socket: Socket): void {
    const { _handle: handle } = socket as Socket & { readonly _handle?: Handle | null };
    if (handle === undefined || handle === null || this.#paused.has(connection)) return;
    this.#paused.add(connection);
    handle.readStop();
    const resume = () => {
      this.#paused.delete(connection);
      if (!socket.destroyed) handle.readStart();
    };
    // Not before all requests of this read have been queued.
    onTickEnd(() => connection.waitForTurn(() => this.waitForTurn(connection, resume)));
  }
}
