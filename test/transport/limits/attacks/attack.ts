/** What an attacker gets, and what it counts. */

export interface AttackTarget {
  readonly url: string;
  readonly host: string;
  readonly port: number;
  readonly from: string;
}

/** Evidence that the attack took place. */
export class Tally {
  opened = 0;
  /** Connections that did not come about. */
  refused = 0;
  /** Connections that ended before the attack did. */
  closed = 0;
  requests = 0;
  sentBytes = 0;
  /** Responses by status, and stream resets by `reset CODE`. */
  readonly answers: Record<string, number> = {};

  answer(status: string, count = 1): void {
    this.answers[status] = (this.answers[status] ?? 0) + count;
  }
}

/** Runs until `signal` is aborted, and releases everything before it resolves. */
export type Attack = (target: AttackTarget, tally: Tally, signal: AbortSignal) => Promise<void>;
