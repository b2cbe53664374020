import { randomUUID } from "node:crypto";
import type { CatchUpProgress } from "../domain/ledger.js";
import { Notifier, SingleFlight } from "../util/async.js";
import type { StateLog } from "./log.js";
import type { ChangeFeed } from "./port.js";

/** What a follower asks the mirror for: to commit all that the ledger has from then on. */
export class CatchUpRequests {
  readonly #follower = randomUUID();
  /** Requests are counted. The mirror that has done what one asks for has done what those before have asked for. */
  #sent = 0;
  #done = 0;
  /** Called when one is done. */
  readonly #listeners = new Set<() => void>();
  /** All that come while a request is being sent share the next. */
  readonly #flight = new SingleFlight(async () => {
    const request = ++this.#sent;
    await this.log.requestCatchUp(`${this.#follower} ${request}`);
    return request;
  });

  constructor(private readonly log: Pick<StateLog, "requestCatchUp">) {}

  /**
   * See Freshness. Lets the mirror catch up, and gives up after `timeoutMs`. `changes` are those of the follower; `refresh` moves
   * it to the head of the log, and returns whether that could be read.
   */
  async *catchUp(
    timeoutMs: number,
    changes: ChangeFeed,
    refresh: () => Promise<boolean>,
  ): AsyncGenerator<CatchUpProgress> {
    const woken = new Notifier();
    let request = Infinity;
    let [hasMoved, hasGivenUp] = [false, false];
    const end = new Notifier();
    const givenUp = end.next.then(() => false);
    const giveUp = () => {
      hasGivenUp = true;
      woken.notify();
      end.notify();
    };
    const wake = () => woken.notify();
    const timer = setTimeout(giveUp, timeoutMs);
    const leave = changes.subscribe(() => {
      hasMoved = true;
      wake();
    });
    this.#listeners.add(wake);
    const send = async () => {
      request = await this.#flight.run();
      wake();
    };
    // The poll reports that the log is unavailable.
    send().catch(giveUp);
    try {
      for (let next = woken.next; this.#done < request; next = woken.next) {
        if (hasGivenUp) return;
        if (hasMoved) {
          hasMoved = false;
          yield "advanced";
        } else await next;
      }
      // The mirror has committed what it has reached. A state that is loaded for it may take minutes.
      if (await Promise.race([refresh(), givenUp])) yield "reached";
    } finally {
      clearTimeout(timer);
      leave();
      this.#listeners.delete(wake);
    }
  }

  /** The mirror has done what a request of a follower asks for. */
  caughtUp(id: string): void {
    const [follower, request] = id.split(" ");
    const done = Number(request);
    // Never true of what is no number.
    if (follower !== this.#follower || !(done > this.#done)) return;
    this.#done = done;
    for (const listener of this.#listeners) listener();
  }
}
