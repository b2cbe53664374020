/** Records when the participant was not reachable. */

/** Times are by `performance.now()`. */
interface Outage {
  readonly from: number;
  until: number | undefined;
}

/** For the service to recover: it retries every 10 s at most, and may need a new snapshot. */
const RECOVERY_MS = 25_000;
const KEPT_MS = 150_000;

export class OutageLog {
  readonly #outages: Outage[] = [];

  begin(): () => void {
    const now = performance.now();
    while (this.#outages[0]?.until !== undefined && this.#outages[0].until < now - KEPT_MS) this.#outages.shift();
    const outage: Outage = { from: now, until: undefined };
    this.#outages.push(outage);
    return () => {
      outage.until = performance.now();
    };
  }

  /** Whether an outage, or the recovery from it, overlaps with the time span. Ignores the first `minAgeMs` of an outage. */
  overlaps(from: number, to: number, minAgeMs = 0): boolean {
    return this.#outages.some(
      ({ from: begin, until = to }) => begin + minAgeMs <= to && Math.max(until, begin) + RECOVERY_MS >= from,
    );
  }
}
