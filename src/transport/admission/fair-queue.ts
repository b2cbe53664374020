import type { ClientAddress } from "./client-addresses.js";
import type { Connection } from "./connection.js";

/** What may run in one turn of the event loop. */
export interface Shares {
  /** At once, of one connection. */
  readonly connection: number;
  /** At once, of all connections of one client address. */
  readonly address: number;
  /** Of what has waited, in all. */
  readonly waiting: number;
}

/** In each turn, what has waited runs for this long. */
const SLICE_MS = 5;

/** A count that starts again in each turn. */
interface Share {
  turn: number;
  runs: number;
}

/**
 * Shares the turns of the event loop among clients. One read of a socket may bring a thousand requests. Those within
 * the share of their connection and its address run at once. The others wait, and run one by one in round robin: by
 * address, then by connection. So other clients wait for one slice at most, and an idle service delays nobody.
 */
export class FairQueue {
  readonly #shares: Shares;
  readonly #addresses: ClientAddress[] = [];
  #turn = 0;
  #isScheduled = false;

  constructor(shares: Shares) {
    this.#shares = shares;
  }

  /** Whether a connection may run something at once. If not, `add` it. Call it once for each. */
  mayRun(connection: Connection): boolean {
    if (!this.#isScheduled) this.#schedule();
    if (connection.waiting.length > 0 || connection.isBlocked()) return false;
    return this.#take(connection, this.#shares.connection) && this.#take(connection.address, this.#shares.address);
  }

  /** Runs a job in a later turn. It must not throw. The caller bounds how many wait. */
  add(connection: Connection, job: () => void): void {
    connection.waiting.push(job);
    this.resume(connection);
  }

  /** Call this when a connection is no longer blocked. */
  resume(connection: Connection): void {
    if (connection.isListed || connection.waiting.length === 0 || connection.isBlocked()) return;
    const { address } = connection;
    connection.isListed = true;
    if (address.listed.push(connection) === 1) this.#addresses.push(address);
    if (!this.#isScheduled) this.#schedule();
  }

  #take(share: Share, limit: number): boolean {
    if (share.turn !== this.#turn) {
      share.turn = this.#turn;
      share.runs = 0;
    }
    return share.runs++ < limit;
  }

  #schedule(): void {
    this.#isScheduled = true;
    setImmediate(this.#endTurn);
  }

  readonly #endTurn = (): void => {
    this.#isScheduled = false;
    this.#turn++;
    if (this.#addresses.length === 0) return;
    // What runs now may add more.
    this.#isScheduled = true;
    const until = performance.now() + SLICE_MS;
    for (let runs = 0; runs < this.#shares.waiting && this.#addresses.length > 0; runs++) {
      this.#runNext();
      if (performance.now() > until) break;
    }
    this.#isScheduled = false;
    if (this.#addresses.length > 0) this.#schedule();
  };

  #runNext(): void {
    const address = this.#addresses.shift();
    const connection = address?.listed.shift();
    if (address === undefined || connection === undefined) return;
    if (address.listed.length > 0) this.#addresses.push(address);
    connection.isListed = false;
    // It may have been blocked, or closed, since it was listed.
    if (!connection.isBlocked()) connection.waiting.shift()?.();
    this.resume(connection);
  }
}
