/** The choices on instructions, with the template of each. */
import type { Template } from "../../fixtures/elements.js";

const choicesOn = <T extends string, C extends string>(template: Template, of: T, ...choices: readonly C[]) =>
  Object.fromEntries(choices.map((choice) => [`${of}/${choice}`, { template }])) as Record<
    `${T}/${C}`,
    { readonly template: Template }
  >;
export const choiceContexts = {
  ...choicesOn("TransferOffer", "transfer-instruction", "accept", "reject", "withdraw"),
  ...choicesOn("DvpLegAllocation", "allocation", "execute-transfer", "withdraw", "cancel"),
  ...choicesOn("MintOffer", "mint-offer", "accept", "reject", "cancel"),
  ...choicesOn("MintRequest", "mint-request", "accept", "reject", "cancel"),
  ...choicesOn("BurnOffer", "burn-offer", "accept", "reject", "cancel"),
  ...choicesOn("BurnRequest", "burn-request", "accept", "reject", "cancel"),
};
export type InstructionChoice = keyof typeof choiceContexts;
