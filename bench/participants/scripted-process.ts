/** The scripted participant of the tests with the registry of transfers, in a process of its own. */
import { setTimeout as delay } from "node:timers/promises";
import { synchronizer } from "../../demo/element.js";
import { creationsOf, play } from "../../scripted-participant/elements.js";
import { ScriptedLedger, type Step } from "../../scripted-participant/ledger.js";
import { Participant } from "../../scripted-participant/participant.js";
import { serve } from "../processes/child.js";
import { contractId } from "../registries/element.js";
import { offerOf, transfers } from "../registries/transfers.js";

/** How many of the offers that are made on the way are open at a time. */
const OPEN = 1_000;

export interface Scripted {
  readonly offers: number;
}

/** Commits so many updates a second for so many seconds; tells the offer of the last. */
export interface Trickle {
  readonly rate: number;
  readonly seconds: number;
}

serve<Scripted, Trickle>(async ({ offers }) => {
  const ledger = new ScriptedLedger();
  play(ledger, transfers(offers));
  const participant = await Participant.start({ ledger, listLimit: Number.POSITIVE_INFINITY });
  let next = offers;
  /** An offer comes with its holding, and one that came before goes: the registry stays as large as it is. */
  const commit = (): number => {
    const steps: Step[] = creationsOf(offerOf(next)).map((create) => ({ create }));
    const old = next - OPEN;
    if (old >= offers) steps.push({ archive: contractId(`offer ${old}`) }, { archive: contractId(`holding ${old}`) });
    ledger.transact(steps, { synchronizerId: synchronizer });
    return next++;
  };
  const answer = async ({ rate, seconds }: Trickle): Promise<number> => {
    const begun = performance.now();
    let last = next;
    for (let count = 0; count < rate * seconds;) {
      const due = Math.min(rate * seconds, ((performance.now() - begun) / 1000) * rate);
      for (; count < due; count++) last = commit();
      await delay(1);
    }
    return last;
  };
  return { begun: participant.url, answer };
});
