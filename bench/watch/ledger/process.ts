/** A scripted participant whose updates belong to registrars in turn, in its own process. */
import { setTimeout as delay } from "node:timers/promises";
import { synchronizer } from "../../../demo/element.js";
import { creationsOf, play } from "../../../test/scripted-participant/elements.js";
import { ScriptedLedger, type Step } from "../../../test/scripted-participant/ledger.js";
import { Participant } from "../../../test/scripted-participant/participant.js";
import { serve } from "../../processes/child.js";
import { contractId } from "../../registries/element.js";
import { registrar } from "../../registries/services.js";
import { createOffer, generateTransfers } from "../../registries/transfers.js";
import { registrarOf } from "../scenarios.js";

/** Offers at the start, and updates after which an offer is archived. */
const OFFERS = 100;
const MAX_OPEN = 1_000;

export interface LedgerOptions {
  /** 0 if all updates belong to the one of the registry. */
  readonly registrars: number;
}

/** Commits `rate` updates a second for `seconds`. */
export interface CommitCommand {
  readonly rate: number;
  readonly seconds: number;
}

/** Update n has the offset `firstOffset + n`, and was committed at `at[n]`, in milliseconds since 1970. */
export interface Commits {
  readonly firstOffset: number;
  readonly at: readonly number[];
}

serve<LedgerOptions, CommitCommand>(async ({ registrars }) => {
  const ledger = new ScriptedLedger();
  play(ledger, generateTransfers(OFFERS));
  const participant = await Participant.start({ ledger, listLimit: Number.POSITIVE_INFINITY });
  let next = OFFERS;
  /** Creates an offer with its holding and archives an earlier one, so the registry keeps its size. */
  const commit = (number: number): void => {
    const admin = registrars === 0 ? registrar : registrarOf(number, registrars);
    const steps: Step[] = creationsOf(createOffer(next, admin)).map((create) => ({ create }));
    const old = next - MAX_OPEN;
    if (old >= OFFERS) steps.push({ archive: contractId(`offer ${old}`) }, { archive: contractId(`holding ${old}`) });
    ledger.transact(steps, { synchronizerId: synchronizer });
    next++;
  };
  const answer = async ({ rate, seconds }: CommitCommand): Promise<Commits> => {
    const firstOffset = ledger.end + 1;
    const at: number[] = [];
    const startedAt = performance.now();
    while (at.length < rate * seconds) {
      const due = Math.min(rate * seconds, ((performance.now() - startedAt) / 1000) * rate);
      while (at.length < due) {
        commit(at.length);
        at.push(performance.timeOrigin + performance.now());
      }
      await delay(1);
    }
    return { firstOffset, at };
  };
  return { started: participant.url, answer };
});
