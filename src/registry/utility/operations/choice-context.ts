import type { Kind } from "../../../store/store.js";
import type { Choice, ChoiceQuestion, ContextAnswer, Scene } from "../../registry.js";
import { Draft } from "../context/draft.js";
import { type Entry, wantedFor, writeEntries } from "../context/entries.js";
import { settledOn } from "../evidence/candidates.js";
import { gather } from "../evidence/evidence.js";
import { Site } from "../evidence/site.js";
import { burnOffer, burnRequest, dvpLegAllocation, type Instruction, transferOffer } from "../kinds/instructions.js";
import { instructionOf } from "./found.js";

/** A choice on an instruction, as a line of the page's table of operations. */
interface Rule {
  /** What messages call the instruction. */
  readonly noun: string;
  readonly kind: Kind<Instruction>;
  readonly entries: readonly Entry[];
  /** Whether the choice lets a party out: then only the instruction itself has to be there. */
  readonly lenient: boolean;
  /** Whether entries stand under their bare names too. */
  readonly bareNames: boolean;
}

const transfer = { noun: "transfer instruction", kind: transferOffer, bareNames: true };
const allocation = { noun: "allocation", kind: dvpLegAllocation, bareNames: false };
const out = { entries: ["enable-result-contracts"], lenient: true } as const;

const rules: Record<Choice, Rule> = {
  "transfer-instruction/reject": {
    ...transfer,
    entries: ["instrument-configuration", "enable-result-contracts"],
    lenient: true,
  },
  "allocation/withdraw": { ...allocation, ...out },
  "allocation/cancel": { ...allocation, ...out },
  "burn-request/accept": {
    noun: "burn request",
    kind: burnRequest,
    entries: [
      "instrument-configuration",
      "issuer-credentials",
      "app-reward-configuration",
      "featured-app-right",
      "enable-result-contracts",
    ],
    lenient: false,
    bareNames: false,
  },
  "burn-offer/cancel": { noun: "burn offer", kind: burnOffer, bareNames: false, ...out },
};

/** The context of a choice on one instruction, with the instruction's locked holding disclosed. */
export async function choiceContext(
  { view, now }: Scene,
  choice: Choice,
  { registrar, contractId }: ChoiceQuestion,
): Promise<ContextAnswer> {
  const { noun, kind, entries, lenient, bareNames } = rules[choice];
  const [found] = await view.read([{ kind, contractId }]);
  const instruction = instructionOf(registrar, `${noun} ${contractId}`, found);
  const subject = instruction.facts;
  const synchronizer = settledOn(instruction, `the ${noun}`);

  const evidence = await gather(view, {
    ...wantedFor(entries, subject.admin, subject),
    lockedHoldings: subject.lockedHolding === undefined ? [] : [subject.lockedHolding],
  });
  const draft = new Draft(bareNames);
  const site = new Site({ evidence, registrar: subject.admin, synchronizer, now, lenient });
  writeEntries(entries, draft, site, subject);
  const held = subject.lockedHolding === undefined ? undefined : site.lockedHolding(subject.lockedHolding);
  if (held !== undefined) draft.disclose(held);
  return draft.finish();
}
