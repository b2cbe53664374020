import type { ChoiceQuestion, ContextAnswer, Scene } from "../../registry.js";
import { Draft } from "../context/draft.js";
import { wantedFor, writeEntries } from "../context/entries.js";
import { settledOn } from "../evidence/candidates.js";
import { Site } from "../evidence/site.js";
import { foresee } from "../evidence/wanted.js";
import type { ChoiceRule } from "./choice-rules.js";
import { instructionOf } from "./found.js";

/** The context of a choice on one instruction, with the instruction's locked holding disclosed. */
export function choiceContext(
  { view, now }: Scene,
  { noun, kind, entries, lenient, bareNames }: ChoiceRule,
  { registrar, contractId }: ChoiceQuestion,
): ContextAnswer {
  const instruction = instructionOf(registrar, noun, contractId, view.byId(kind, contractId));
  const { admin, instrumentId, lockedHolding, provider, sender, receiver, issuers } = instruction.facts;
  const subject = { instruments: [instrumentId], provider, sender, receiver, issuers };
  const synchronizer = settledOn(instruction, `the ${noun}`);

  if (view.fetches) {
    const lockedHoldings = lockedHolding === undefined ? [] : [lockedHolding];
    foresee(view, { ...wantedFor(entries, admin, subject), lockedHoldings });
  }
  const draft = new Draft(bareNames);
  const site = new Site({ view, registrar: admin, synchronizer, now, lenient });
  writeEntries(entries, draft, site, subject);
  const held = lockedHolding === undefined ? undefined : site.lockedHolding(lockedHolding);
  if (held !== undefined) draft.disclose(held);
  return draft.finish();
}
