/**
 * Requests wait after this many turns in a row that accepted a connection. With few callers they do not: Node.js drops a
 * waiting request when its client half-closes the connection.
 */
const MIN_TURNS = 128;
/** Maximum milliseconds in a row for which requests wait. */
const MAX_MS = 150;
/** Maximum share of the time for which requests wait. */
const SHARE = 0.05;
/** If a connection takes longer on average, turns are long for another reason, and requests no longer wait. */
const MS_PER_CONNECTION = 2;
/** Added to that limit, for the first connections. */
const START_MS = 4;

/**
 * Which turns of the event loop only accept connections. libuv accepts one in each turn (libuv/libuv#3696): when a
 * thousand callers connect at once, and each turn handles the requests of those before, the last of them wait for
 * seconds. So requests wait while each turn accepts a connection. Halves the 99th percentile of the first second of an
 * overload or better; can go when libuv accepts several connections in a turn.
 */
export class AcceptTurns {
  #isAccepting = false;
  #hasAccepted = false;
  /** Turns in a row that have accepted one. */
  #turns = 0;
  /** Connections accepted in these turns while requests waited. */
  #connections = 0;
  /** How long requests have waited in these turns. */
  #waitedMs = 0;
  /** What is left of `MAX_MS`. */
  #creditMs = MAX_MS;
  #turnEndedAt = performance.now();

  /** Whether requests wait in this turn. */
  get isAccepting(): boolean {
    return this.#isAccepting;
  }

  /** Call this for each accepted connection, and `endTurn` at the end of the turn. */
  add(): void {
    this.#hasAccepted = true;
  }

  /**
   * `areRequestsWaiting` tells whether requests have waited for connections. Returns whether a connection was accepted
   * in this turn; if so, call it at the end of the next one as well.
   */
  endTurn(areRequestsWaiting: boolean, now: number = performance.now()): boolean {
    const passedMs = now - this.#turnEndedAt;
    this.#turnEndedAt = now;
    const waitedMs = areRequestsWaiting ? passedMs : 0;
    this.#creditMs = Math.min(MAX_MS, this.#creditMs + passedMs * SHARE - waitedMs);
    const hasAccepted = this.#hasAccepted;
    if (!hasAccepted) this.#connections = this.#waitedMs = 0;
    else if (this.#isAccepting) {
      this.#connections++;
      this.#waitedMs += waitedMs;
    }
    this.#turns = hasAccepted ? this.#turns + 1 : 0;
    this.#isAccepting = this.#turns >= MIN_TURNS && this.#creditMs > 0 && this.#isFast;
    this.#hasAccepted = false;
    return hasAccepted;
  }

  get #isFast(): boolean {
    return this.#waitedMs <= START_MS + MS_PER_CONNECTION * this.#connections;
  }
}
