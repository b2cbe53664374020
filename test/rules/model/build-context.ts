/** Builds the context of one operation on one synchronizer, as "How a choice context is built" describes it. */
import type { ContextRow, EntryName } from "./contexts.js";
import { type EntryInputs, valueOf } from "./entries.js";
import type { ExpectedContext, Failure } from "./expected.js";
import { type LedgerContract, read } from "./ledger.js";
import { Selection, type SelectionOptions } from "./selection.js";

/** A contract of the extra disclosures with its candidates: one, or none. */
export interface Disclosure {
  readonly contractId: string;
  readonly candidates: readonly LedgerContract[];
}

export interface Attempt {
  readonly context: ExpectedContext;
  /** Why the contracts of the answer are not all on this synchronizer. */
  readonly missing: readonly Failure[];
  /** Set if an instrument of the answer checks a blocklist. */
  readonly blocked: readonly Failure[];
}

const PREFIX = "utility.digitalasset.com/";
const rewardEntries: readonly EntryName[] = ["app-reward-configuration", "featured-app-right"];

export function buildContext(
  where: Omit<SelectionOptions, "isExit">,
  { entries, isExit = false, bareNames = false, rewards = false }: ContextRow,
  inputs: EntryInputs,
  disclosures: readonly Disclosure[],
): Attempt {
  const selection = new Selection({ ...where, isExit });
  const all = rewards && where.settings.rewards ? [...entries, ...rewardEntries] : entries;
  const needsConfigurations = all.some((entry) => entry.startsWith("instrument-configuration"));
  if (needsConfigurations) selection.pickConfigurations(inputs.instruments);
  const values = all.flatMap((entry) => {
    const value = valueOf(entry, selection, inputs);
    if (value === undefined) return [];
    const prefixed = { key: `${PREFIX}${entry}`, value };
    return bareNames && entry !== "enable-result-contracts" ? [prefixed, { key: entry, value }] : [prefixed];
  });
  const disclosed = disclosures.flatMap(
    ({ contractId, candidates }) => selection.pick(candidates, !isExit, contractId)?.contractId ?? [],
  );
  const blocked = [...selection.configurations]
    .filter(([, { payload }]) => !isExit && read(payload, "checkBlocklist") === true)
    .map(([instrument]): Failure => ({ status: 400, mentions: [instrument, "checkBlocklist"] }));
  return { context: { values, disclosures: disclosed }, missing: selection.missing, blocked };
}
