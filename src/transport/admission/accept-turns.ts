/** Requests wait from this many turns in a row that accept a connection, */
const MIN_TURNS = 128;
/** ... at most this long in a row ... */
const MAX_MS = 150;
/** ... and this share of the time. */
const SHARE = 0.05;
/** They wait as long as a connection is accepted in so many milliseconds on average, ... */
const MS_PER_CONNECTION = 2;
/** ... with this much more at first. */
const START_MS = 4;

/**
 * Which turns of the event loop only accept connections. libuv accepts one in each turn (libuv/libuv#3696): when a
 * thousand callers connect at once, and each turn handles the requests of those before, the last of them wait for
 * seconds. So requests wait while turn after turn accepts a connection, unless those turns are long for another reason.
 * Can go when libuv accepts several connections in a turn.
 */
export class AcceptTurns {
  #isAccepting = false;
  #hasAccepted = false;
  /** Turns in a row that have accepted one. */
  #turns = 0;
  /** Accepted while no request was handled, since turn after turn has accepted one. */
  #connections = 0;
  /** Since then, how long requests have waited. */
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
    // A few callers do not delay their own requests. Node.js drops a request that waits when its client ends the
    // connection without waiting for the response.
    this.#isAccepting = this.#turns >= MIN_TURNS && this.#creditMs > 0 && this.#isFast;
    this.#hasAccepted = false;
    return hasAccepted;
  }

  get #isFast(): boolean {
    return this.#waitedMs <= START_MS + MS_PER_CONNECTION * this.#connections;
  }
}
