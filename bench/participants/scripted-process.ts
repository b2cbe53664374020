/** The scripted participant of the tests with the registry of transfers, in its own process. */
import { setTimeout as delay } from "node:timers/promises";
import { synchronizer } from "../../demo/element.js";
import { creationsOf, play } from "../../test/scripted-participant/elements.js";
import { ScriptedLedger, type Step } from "../../test/scripted-participant/ledger.js";
import { Participant } from "../../test/scripted-participant/participant.js";
import { serve } from "../processes/child.js";
import { contractId } from "../registries/element.js";
import { createOffer, generateTransfers } from "../registries/transfers.js";

const MAX_OPEN = 1_000;

export interface ScriptedOptions {
  readonly offers: number;
}

/** Commits `rate` updates a second for `seconds`; the reply is the number of the last offer. */
export interface TrickleCommand {
  readonly rate: number;
  readonly seconds: number;
}

serve<ScriptedOptions, TrickleCommand>(async ({ offers }) => {
  const ledger = new ScriptedLedger();
  play(ledger, generateTransfers(offers));
  const participant = await Participant.start({ ledger, listLimit: Number.POSITIVE_INFINITY });
  let next = offers;
  /** Creates an offer with its holding and archives an earlier one, so the registry keeps its size. */
  const commit = (): number => {
    const steps: Step[] = creationsOf(createOffer(next)).map((create) => ({ create }));
    const old = next - MAX_OPEN;
    if (old >= offers) steps.push({ archive: contractId(`offer ${old}`) }, { archive: contractId(`holding ${old}`) });
    ledger.transact(steps, { synchronizerId: synchronizer });
    return next++;
  };
  const answer = async ({ rate, seconds }: TrickleCommand): Promise<number> => {
    const startedAt = performance.now();
    let last = next;
    for (let count = 0; count < rate * seconds;) {
      const due = Math.min(rate * seconds, ((performance.now() - startedAt) / 1000) * rate);
      for (; count < due; count++) last = commit();
      await delay(1);
    }
    return last;
  };
  return { started: participant.url, answer };
});
