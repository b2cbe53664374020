/** Builds the context of one operation on one synchronizer, as "How a choice context is built" describes it. */
import type { Template } from "../../fixtures/elements.js";
import type { ContextRow, EntryName } from "./contexts.js";
import { type EntryInputs, valueOf } from "./entries.js";
import type { ExpectedContext, Failure } from "./expected.js";
import { type LedgerContract, ofGroup, read, registrarsContracts } from "./ledger.js";
import type { Settings } from "./settings.js";
import { isOlder } from "./versions.js";
import { Selection, type SelectionOptions } from "./selection.js";

/** A contract of the extra disclosures with its candidates: one, or none. */
export interface Disclosure {
  readonly contractId: string;
  readonly candidates: readonly LedgerContract[];
  /** Default: as the row says of locked holdings. */
  readonly isRequired?: boolean;
}

export interface Attempt {
  readonly context: ExpectedContext;
  /** Why the contracts of the answer are not all on this synchronizer. */
  readonly missing: readonly Failure[];
  /** Set if instruments of the answer check a blocklist: one failure that names all of them. */
  readonly blocked: readonly Failure[];
}

/** The templates of `utility-registry-app-v0` on which choices are exercised. */
const ofAppPackage: ReadonlySet<Template> = new Set([
  "AllocationFactory",
  "TransferPreapproval",
  "TransferOffer",
  "MintOffer",
  "MintRequest",
  "BurnOffer",
  "BurnRequest",
]);
const PREFIX = "utility.digitalasset.com/";
const rewardEntries: readonly EntryName[] = ["app-reward-configuration", "featured-app-right"];

/** `exercised` is the contract of the choice: the factory, or the instruction. */
export function buildContext(
  where: Omit<SelectionOptions, "isExit" | "isSelf">,
  { entries, isExit = false, isSelf = false, needsHolding = false, rewards = false }: ContextRow,
  exercised: LedgerContract,
  inputs: EntryInputs,
  disclosures: readonly Disclosure[],
): Attempt {
  const selection = new Selection({ ...where, isExit, isSelf });
  const all = rewards && hasRewards(where.settings, exercised) ? [...entries, ...rewardEntries] : entries;
  const needsConfigurations = all.some((entry) => entry.startsWith("instrument-configuration"));
  if (needsConfigurations) selection.pickConfigurations(inputs.instruments);
  const isConfigured = selection.configurations.size > 0;
  const values = all.flatMap((entry) => {
    // The ledger reads nothing for a transfer to oneself: without a configuration it has its rule and rewards alone.
    if (isSelf && !isConfigured && /-credentials$|^enable/.test(entry)) return [];
    const value = valueOf(entry, selection, inputs);
    return value === undefined ? [] : [{ key: `${PREFIX}${entry}`, value }];
  });
  const checked = [...selection.configurations].filter(
    ([, { payload }]) => !isExit && read(payload, "checkBlocklist") === true,
  );
  const { blocklist } = where.settings;
  if (blocklist && checked.length > 0) {
    const rule = selection.pick(
      ofGroup(registrarsContracts(where.ledger, "TransferRule", where.registrar), where.group),
      false,
    );
    if (rule !== undefined) values.push({ key: "blocklist", value: { is: "contract", contractId: rule.contractId } });
  }
  const disclosed = disclosures.flatMap(
    ({ contractId, candidates, isRequired = needsHolding }) =>
      selection.pick(candidates, isRequired, contractId)?.contractId ?? [],
  );
  const isBlocked = !blocklist && checked.length > 0;
  const instruments = checked.map(([instrument]) => `instrument "${instrument}"`);
  const blocked: Failure[] = isBlocked ? [{ status: 400, mentions: [...instruments, "checkBlocklist"] }] : [];
  return { context: { values, disclosures: disclosed }, missing: selection.missing, blocked };
}

function hasRewards(settings: Settings, exercised: LedgerContract): boolean {
  const { rewards } = settings;
  if (typeof rewards === "string") return rewards === "on";
  return ofAppPackage.has(exercised.template) && isOlder(settings, exercised, rewards.appPackageBefore);
}
