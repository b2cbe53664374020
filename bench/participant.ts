/** The scripted participant with the registry of transfers, in its own process. */
import { parties } from "../test/fixtures/elements.js";
import { creationsOf, play } from "../test/scripted-participant/elements.js";
import { ScriptedLedger, type Step } from "../test/scripted-participant/ledger.js";
import { Participant } from "../test/scripted-participant/participant.js";
import { serve } from "./processes.js";
import { contractId, createOffer, generateTransfers } from "./registry.js";

export interface ParticipantOptions {
  readonly offers: number;
}

/** Commits so many updates. */
export interface Commit {
  readonly commit: number;
}

export interface Committed {
  /** The last offer. */
  readonly offer: number;
  /** In milliseconds since 1970. */
  readonly at: number;
}

const MAX_OPEN = 1_000;
const signatories = [parties.operator];

serve(async ({ offers }: ParticipantOptions) => {
  const ledger = new ScriptedLedger({ synchronizerId: "sync-A" });
  play(ledger, generateTransfers(offers), { stakeholders: signatories });
  const { url } = await Participant.start({ ledger, listLimit: Number.POSITIVE_INFINITY });
  let next = offers;
  const answer = ({ commit }: Commit): Committed => {
    for (let count = 0; count < commit; count++, next++) {
      const steps: Step[] = creationsOf(createOffer(next)).map((one) => ({ create: { ...one, signatories } }));
      // Archives an earlier offer, so that the registry keeps its size.
      const old = next - MAX_OPEN;
      if (old >= offers) steps.push({ archive: contractId(`offer ${old}`) }, { archive: contractId(`holding ${old}`) });
      ledger.transact(steps);
    }
    return { offer: next - 1, at: performance.timeOrigin + performance.now() };
  };
  return { url, answer };
});
