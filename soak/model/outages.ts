/** When the participant could not be reached as usual, by `performance.now()`. */
interface Trouble {
  readonly from: number;
  until: number | undefined;
}

/** How long the service may take to come back: it tries again after 10 s at most, and may have to take a snapshot. */
const RECOVERY_MS = 25_000;
/** As long as anybody asks. */
const KEPT_MS = 150_000;

export class Troubles {
  readonly #all: Trouble[] = [];

  /** Begins one; gives what ends it. */
  begin(): () => void {
    const now = performance.now();
    while (this.#all[0]?.until !== undefined && this.#all[0].until < now - KEPT_MS) this.#all.shift();
    const trouble: Trouble = { from: now, until: undefined };
    this.#all.push(trouble);
    return () => {
      trouble.until = performance.now();
    };
  }

  /** Whether there was a trouble in a span of time, or one that the service was coming back from, which had lasted so long. */
  wasBetween(from: number, to: number, lasted = 0): boolean {
    return this.#all.some(
      ({ from: begun, until = to }) => begun + lasted <= to && Math.max(until, begun) + RECOVERY_MS >= from,
    );
  }
}
