import { onTickEnd } from "../fast-path/response-batching.js";
import { AcceptTurns } from "./accept-turns.js";

/** What may run in one turn of the event loop. */
export interface Shares {
  /** At once, of one member. */
  readonly member: number;
  /** At once, of all members of one group. */
  readonly group: number;
  /** Of what has waited, in all. */
  readonly waiting: number;
  /** What has waited runs in one of so many turns; in each without it. */
  readonly interval?: number;
}

/** In each turn, what has waited runs for this long. */
const SLICE_MS = 1;

/** A count that starts again in each turn. */
interface Share {
  turn: number;
  runs: number;
}

/** Takes turns with other groups: all connections of a client address. */
export interface Group extends Share {
  /** Those with something that waits for its turn. */
  readonly listed: Member[];
}

/** Takes turns with the others of its group: a connection. */
export interface Member extends Share {
  readonly group: Group;
  readonly waiting: (() => void)[];
  isListed: boolean;
  /** Whether what waits must not run yet. */
  isBlocked(): boolean;
}

export const createGroup = (): Group => ({ listed: [], turn: -1, runs: 0 });

/** A member that is never blocked. */
export const createMember = (group: Group): Member => ({
  group,
  waiting: [],
  isListed: false,
  turn: -1,
  runs: 0,
  isBlocked: () => false,
});

/**
 * Shares the turns of the event loop among clients. One read of a socket may bring a thousand requests. Those within
 * the share of their connection and its address run at once. The others wait, and run one by one in round robin: by
 * address, then by connection. So other clients wait for one slice at most, and an idle service delays nobody.
 */
export class FairQueue {
  readonly #shares: Shares;
  readonly #groups: Group[] = [];
  readonly #acceptTurns = new AcceptTurns();
  /** Members with a job that waits for connections to be accepted, once for each job. */
  #held: Member[] = [];
  #turn = 0;
  /** The next turn of what has waited. */
  #nextTurn = 0;
  #isScheduled = false;

  constructor(shares: Shares) {
    this.#shares = shares;
  }

  /**
   * Whether a member may run something at once. If not, `add` it. Call it once for each. `isUrgent` lets it run in a
   * turn that only accepts connections.
   */
  mayRun(member: Member, isUrgent = false): boolean {
    this.#schedule();
    if (member.waiting.length > 0 || member.isBlocked()) return false;
    if (this.#acceptTurns.isAccepting && !isUrgent) return false;
    return this.#takeShares(member);
  }

  /** Call this when a connection is accepted. After many, turns only accept (`AcceptTurns`), and jobs wait. */
  accepted(): void {
    this.#acceptTurns.add();
    this.#schedule();
  }

  /** Runs a job in a later turn. It must not throw. The caller bounds how many wait. */
  add(member: Member, job: () => void): void {
    member.waiting.push(job);
    if (this.#acceptTurns.isAccepting) this.#held.push(member);
    else this.resume(member);
  }

  /** Call this when a member is no longer blocked. */
  resume(member: Member): void {
    if (member.isListed || member.waiting.length === 0 || member.isBlocked()) return;
    const { group } = member;
    member.isListed = true;
    if (group.listed.push(member) === 1) this.#groups.push(group);
    this.#schedule();
  }

  #takeShares(member: Member): boolean {
    return this.#take(member, this.#shares.member) && this.#take(member.group, this.#shares.group);
  }

  #take(share: Share, limit: number): boolean {
    if (share.turn !== this.#turn) {
      share.turn = this.#turn;
      share.runs = 0;
    }
    return share.runs++ < limit;
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    onTickEnd(this.#endTurn);
  }

  readonly #endTurn = (): void => {
    this.#isScheduled = false;
    this.#turn++;
    const hasAccepted = this.#acceptTurns.endTurn(this.#held.length > 0);
    if (hasAccepted) this.#schedule();
    if (this.#acceptTurns.isAccepting) return;
    this.#releaseHeld();
    if (this.#groups.length === 0) return;
    this.#schedule();
    if (this.#turn < this.#nextTurn) return;
    this.#nextTurn = this.#turn + (this.#shares.interval ?? 1);
    const until = performance.now() + SLICE_MS;
    for (let runs = 0; runs < this.#shares.waiting && this.#groups.length > 0; runs++) {
      this.#runNext();
      if (performance.now() > until) break;
    }
  };

  /** Runs held jobs within the shares of the next turn; the others wait. */
  #releaseHeld(): void {
    const members = this.#held;
    this.#held = [];
    for (const member of members) {
      // A connection that has closed has nothing waiting.
      if (member.waiting.length === 0) continue;
      if (!member.isBlocked() && this.#takeShares(member)) member.waiting.shift()?.();
      this.resume(member);
    }
  }

  #runNext(): void {
    const group = this.#groups.shift();
    const member = group?.listed.shift();
    if (group === undefined || member === undefined) return;
    if (group.listed.length > 0) this.#groups.push(group);
    member.isListed = false;
    // It may have been blocked, or closed, since it was listed.
    if (!member.isBlocked()) member.waiting.shift()?.();
    this.resume(member);
  }
}
