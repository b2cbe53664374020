import type { ChoiceQuestion, ContextAnswer, Scene } from "../../registry.js";
import { Draft } from "../context/draft.js";
import { wantedFor, writeEntries } from "../context/entries.js";
import { settledOn } from "../evidence/candidates.js";
import { gather } from "../evidence/evidence.js";
import { Site } from "../evidence/site.js";
import type { ChoiceRule } from "./choice-rules.js";
import { instructionOf } from "./found.js";

/** The context of a choice on one instruction, with the instruction's locked holding disclosed. */
export async function choiceContext(
  { view, now }: Scene,
  { noun, kind, entries, lenient, bareNames }: ChoiceRule,
  { registrar, contractId }: ChoiceQuestion,
): Promise<ContextAnswer> {
  const [found] = await view.read([{ kind, contractId }]);
  const instruction = instructionOf(registrar, `${noun} ${contractId}`, found);
  const { admin, instrumentId, lockedHolding, provider, sender, receiver, issuers } = instruction.facts;
  const subject = { instruments: [instrumentId], provider, sender, receiver, issuers };
  const synchronizer = settledOn(instruction, `the ${noun}`);

  const evidence = await gather(view, {
    ...wantedFor(entries, admin, subject),
    lockedHoldings: lockedHolding === undefined ? [] : [lockedHolding],
  });
  const draft = new Draft(bareNames);
  const site = new Site({ evidence, registrar: admin, synchronizer, now, lenient });
  writeEntries(entries, draft, site, subject);
  const held = lockedHolding === undefined ? undefined : site.lockedHolding(lockedHolding);
  if (held !== undefined) draft.disclose(held);
  return draft.finish();
}
