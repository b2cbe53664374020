/** The attacks by name, what they count, and what an honest caller asks meanwhile. */
import { cashTransfer } from "../../fixtures/calls/index.js";

export const FAMILIES = [
  "connections",
  "slow headers",
  "slow bodies",
  "unread responses",
  "resets",
  "floods",
  "TLS connections",
  "watch streams",
  "heavy bodies",
  "reconnects",
] as const;
export type FamilyName = (typeof FAMILIES)[number];

/** An attack has begun, and says so, once it has opened as many. */
export const BEGUN_CONNECTIONS = 10;

/** To the demo registry. */
export const TRANSFER_FACTORY = { path: cashTransfer.path, body: JSON.stringify(cashTransfer.body) };

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
