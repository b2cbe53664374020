import type { Heartbeat } from "./log.js";

/** A query that has seen a heartbeat; undefined if there was none. */
interface Observation {
  readonly heartbeat: Heartbeat | undefined;
  /** By our monotonic clock. */
  readonly startedAt: number;
}

/**
 * When the store was last known to equal the ledger, by the monotonic clock of this process. The mirror measures its age by
 * such a clock, too, so a jump of any wall clock changes nothing. A heartbeat that the query before did not see is newer than
 * that query: from there the mirror's age counts. Seen again, it proves nothing new.
 */
export class Confirmation {
  #last: Observation | undefined;
  #at: number | undefined;

  /** By our monotonic clock; undefined if the store is not known to have equalled the ledger. */
  get at(): number | undefined {
    return this.#at;
  }

  /** One query after the other: none begins before the one before is observed. */
  observe(heartbeat: Heartbeat | undefined, startedAt: number): void {
    const last = this.#last;
    this.#last = { heartbeat, startedAt };
    // The first query has nothing to compare with, but the database's clock.
    if (last === undefined) this.#confirm(startedAt, heartbeat?.elapsed);
    else if (isNewer(heartbeat, last.heartbeat)) this.#confirm(last.startedAt, ageOf(heartbeat));
  }

  #confirm(since: number, age: number | undefined): void {
    // The database's clock was set back in between.
    if (age === undefined || age < 0) return;
    this.#at = Math.max(this.#at ?? -Infinity, since - age);
  }
}

/** One that knows no age leaves the time of confirmation as it is. A restored database has an earlier one. */
const isNewer = (heartbeat: Heartbeat | undefined, last: Heartbeat | undefined): heartbeat is Heartbeat =>
  heartbeat !== undefined &&
  heartbeat.confirmedAt !== last?.confirmedAt &&
  heartbeat.count > (last?.count ?? -Infinity);

/** The mirror's own, since it writes both times from one reading of the clock. */
const ageOf = ({ writtenAt, confirmedAt }: Heartbeat): number | undefined =>
  confirmedAt === undefined ? undefined : writtenAt - confirmedAt;
