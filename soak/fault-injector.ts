/** What goes wrong between the service and the participant. */
import { setTimeout as delay } from "node:timers/promises";
import type { Random } from "../test/ingest/database/random.js";
import type { Participant } from "../scripted-participant/participant.js";
import type { Troubles } from "./model/outages.js";
import type { World } from "./model/world.js";
import type { Network } from "./network.js";

export interface CutsParts {
  readonly world: World;
  readonly participant: Participant;
  readonly network: Network;
  readonly troubles: Troubles;
  readonly random: Random;
  /** From one cut to the next, on average, in milliseconds. */
  readonly everyMs: number;
  /** The longest silence; longer ones than the limit of staleness have requests refused. */
  readonly longestMs: number;
}

export class Cuts {
  readonly counts: Record<string, number> = {};
  readonly #parts: CutsParts;

  constructor(parts: CutsParts) {
    this.#parts = parts;
  }

  /** Cuts until the signal is aborted; what it has cut is whole then. */
  async run(signal: AbortSignal): Promise<void> {
    const { random, everyMs, participant } = this.#parts;
    const pause = (ms: number) => delay(ms, undefined, { signal }).catch(() => undefined);
    const next = () => pause(everyMs * (0.5 + random.next()));
    for (await next(); !signal.aborted; await next()) {
      const end = this.#parts.troubles.begin();
      try {
        await this.#cut(pause);
      } finally {
        end();
        // Of what was asked of it nothing has to be kept.
        participant.requests.length = 0;
      }
    }
  }

  /** The updates so far are forgotten, and the connections cut: the service has to take a new snapshot. */
  prune(): void {
    const { world, network, troubles } = this.#parts;
    const end = troubles.begin();
    network.cut(false);
    world.elsewhere();
    world.ledger.prune(world.end);
    end();
    this.#count("pruned");
  }

  async #cut(pause: (ms: number) => Promise<unknown>): Promise<void> {
    const { network, participant, random, longestMs } = this.#parts;
    const sort = random.below(10);
    if (sort < 2) {
      network.cut(sort === 0);
      return this.#count("cut");
    }
    if (sort < 5) {
      // Most silences are short; one in three is long enough to be taken for a cut.
      const isLong = random.below(3) === 0;
      network.silence();
      await pause(longestMs * (isLong ? 0.7 + random.next() * 0.3 : random.next() / 5));
      network.speak();
      return this.#count(isLong ? "silent for long" : "silent");
    }
    if (sort < 7) {
      // Away: nobody answers, or what stands in front of it says so.
      if (sort === 5) participant.faults.hangUp({ times: 3 });
      else participant.faults.refuse(503, { times: 6 });
      network.cut(true);
      await pause(longestMs / 10);
      participant.faults.clear();
      return this.#count("refusing");
    }
    if (participant.streams === 0) return;
    const open = { streams: "open" } as const;
    if (sort === 7) participant.faults.halfFrame(open);
    else if (sort === 8) participant.faults.close(open);
    else participant.faults.halfJson(open);
    this.#count("broken off");
  }

  #count(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }
}
