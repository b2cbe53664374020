import { randomUUID } from "node:crypto";
import type { CatchUpProgress } from "../domain/ledger.js";
import { type Notifier, SingleFlight } from "../util/async.js";
import type { StateLog } from "./log.js";

/** What a follower asks the mirror for: to commit all that the ledger has from then on. */
export class CatchUpRequests {
  readonly #onCaughtUp = new Map<string, () => void>();
  /** All that come while a request is being sent share the next. */
  readonly #flight = new SingleFlight((timeoutMs: number) => this.#send(timeoutMs));

  constructor(private readonly log: Pick<StateLog, "requestCatchUp">) {}

  /**
   * See Freshness. Lets the mirror catch up, and gives up after `timeoutMs`. `moves` tells when the follower has moved;
   * `refresh` moves it to the head of the log, and returns whether that could be read.
   */
  async *catchUp(timeoutMs: number, moves: Notifier, refresh: () => Promise<boolean>): AsyncGenerator<CatchUpProgress> {
    let timer: NodeJS.Timeout | undefined;
    const expired = new Promise<"gave up">((resolve) => {
      timer = setTimeout(resolve, timeoutMs, "gave up");
    });
    try {
      let moved = moves.next;
      const reached = this.#flight.run(timeoutMs).then(
        ({ caughtUp }) => caughtUp.then(() => "reached" as const),
        // The poll reports that the log is unavailable.
        () => "gave up" as const,
      );
      for (;;) {
        const progress = await Promise.race([reached, expired, moved.then(() => "advanced" as const)]);
        // What moves it while the caller looks at the state ends the next wait.
        moved = moves.next;
        if (progress === "gave up") return;
        if (progress === "reached") break;
        yield "advanced";
      }
      // The mirror has committed what it has reached.
      if (await refresh()) yield "reached";
    } finally {
      clearTimeout(timer);
    }
  }

  /** The mirror has done what this request asks for. */
  caughtUp(id: string): void {
    this.#onCaughtUp.get(id)?.();
  }

  /** Resolves once the mirror is asked. `caughtUp` resolves when it has committed, unless that takes more than `timeoutMs`. */
  async #send(timeoutMs: number): Promise<{ readonly caughtUp: Promise<void> }> {
    const id = randomUUID();
    const forget = () => {
      clearTimeout(timer);
      this.#onCaughtUp.delete(id);
    };
    const timer = setTimeout(forget, timeoutMs);
    const caughtUp = new Promise<void>((resolve) => {
      this.#onCaughtUp.set(id, () => {
        forget();
        resolve();
      });
    });
    try {
      await this.log.requestCatchUp(id);
    } catch (error) {
      forget();
      throw error;
    }
    return { caughtUp };
  }
}
