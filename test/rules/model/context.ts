/** Builds the context of one operation on one synchronizer, as "How a choice context is built" describes it. */
import type { Template } from "../../fixtures/elements.js";
import type { Account } from "./arguments.js";
import { chooseCredentials, type CredentialChoice, requirementsOf } from "./credentials.js";
import {
  configurationsOf,
  contractsOf,
  type Group,
  isOlder,
  type Ledger,
  type LedgerContract,
  ofGroup,
  read,
  readText,
  registrarsContracts,
} from "./ledger.js";
import type { ExpectedContext, ExpectedValue, Failure, Settings, Status } from "./requests.js";
import type { ContextRow, EntryName } from "./table.js";

export interface SelectionOptions {
  readonly ledger: Ledger;
  readonly settings: Settings;
  readonly registrar: string;
  readonly group: Group;
  readonly synchronizer: string;
  /** Exits require nothing. */
  readonly isExit: boolean;
  /** A transfer to oneself requires nothing, and leaves out what is in reassignment too. */
  readonly isSelf: boolean;
}

export class Selection {
  readonly options: SelectionOptions;
  /** Why there is no answer on this synchronizer. */
  readonly missing: Failure[] = [];
  /** The configurations of the instruments of the answer, by instrument id. */
  readonly configurations = new Map<string, LedgerContract>();

  constructor(options: SelectionOptions) {
    this.options = options;
  }

  fail(status: Status, ...mentions: readonly string[]): void {
    this.missing.push({ status, mentions });
  }

  /**
   * The newest candidate on the synchronizer; else 409 if one is in reassignment; else, if the operation requires it,
   * 404 without candidates and 409 with candidates elsewhere.
   */
  pick(candidates: readonly LedgerContract[], isRequired: boolean, ...mentions: string[]): LedgerContract | undefined {
    const active = candidates.find(({ synchronizerId }) => synchronizerId === this.options.synchronizer);
    if (active !== undefined) return active;
    if (this.options.isSelf && !isRequired) return undefined;
    if (candidates.some(({ synchronizerId }) => synchronizerId === undefined)) this.fail(409);
    else if (isRequired) this.fail(candidates.length === 0 ? 404 : 409, ...mentions);
    return undefined;
  }

  pickConfigurations(instruments: readonly string[]): void {
    const { ledger, registrar, group, isSelf } = this.options;
    for (const instrument of instruments) {
      const found = this.pick(ofGroup(configurationsOf(ledger, registrar, instrument), group), !isSelf, instrument);
      if (found !== undefined) this.configurations.set(instrument, found);
    }
  }
}

/** A party with the instruments whose requirements it has to meet. */
export interface Holder {
  readonly account: Account;
  readonly instruments: readonly string[];
}

/** What an operation is about. */
export interface EntryInputs {
  readonly instruments: readonly string[];
  readonly sender?: Holder | undefined;
  readonly receiver?: Holder | undefined;
  /** The parties of `issuer-credentials`, in order. */
  readonly issuers?: readonly string[];
  /** The parties of `holder-credentials`. */
  readonly holders?: readonly Holder[];
}

/** Undefined if the entry is left out. */
export function valueOf(entry: EntryName, selection: Selection, inputs: EntryInputs): ExpectedValue | undefined {
  const { ledger, registrar, group, isSelf } = selection.options;
  const [only, second] = inputs.instruments;
  switch (entry) {
    case "instrument-configuration":
      return only === undefined || second !== undefined ? undefined : single(selection.configurations.get(only));
    case "instrument-configurations": {
      const ids = [...selection.configurations].map(
        ([instrument, { contractId }]) => [instrument, contractId] as const,
      );
      return { is: "contracts by name", contractIds: new Map(ids) };
    }
    case "sender-credentials":
      return { is: "credentials", parties: [credentialsOf(selection, inputs.sender)] };
    case "receiver-credentials":
      return { is: "credentials", parties: [credentialsOf(selection, inputs.receiver)] };
    case "issuer-credentials": {
      const parties = inputs.issuers ?? [];
      return { is: "credentials", parties: parties.map((party) => issuerCredentials(selection, party, inputs)) };
    }
    case "holder-credentials": {
      const holders = (inputs.holders ?? []).flatMap((holder) => {
        const { party } = holder.account;
        return party === undefined ? [] : [[party, credentialsOf(selection, holder)] as const];
      });
      return { is: "credentials by party", parties: new Map(holders) };
    }
    case "transfer-rule":
      return single(
        selection.pick(ofGroup(registrarsContracts(ledger, "TransferRule", registrar), group), !isSelf, registrar),
      );
    case "enable-result-contracts":
      return enableResultContracts(selection);
    case "app-reward-configuration":
      return single(selection.pick(rewardsOf(selection), false));
    case "featured-app-right":
      return single(selection.pick(rightsOf(selection), false));
  }
}

function single(contract: LedgerContract | undefined): ExpectedValue | undefined {
  return contract === undefined ? undefined : { is: "contract", contractId: contract.contractId };
}

/** A special account needs no credentials. */
function credentialsOf(selection: Selection, holder: Holder | undefined): readonly CredentialChoice[] {
  const party = holder?.account.party;
  return holder === undefined || party === undefined
    ? []
    : choose(selection, party, holder.instruments, "holderRequirements");
}

const issuerCredentials = (selection: Selection, party: string, { instruments }: EntryInputs) =>
  choose(selection, party, instruments, "issuerRequirements");

/** What is met only elsewhere is 409. What nobody meets is left out, or 404 if it is required. */
function choose(
  selection: Selection,
  party: string,
  instruments: readonly string[],
  field: "holderRequirements" | "issuerRequirements",
): readonly CredentialChoice[] {
  const { ledger, synchronizer, settings, isSelf } = selection.options;
  const { credentialsRequired, now } = settings;
  const isRequired = credentialsRequired && !isSelf;
  const configurations = instruments.flatMap((instrument) => selection.configurations.get(instrument) ?? []);
  const requirements = requirementsOf(configurations, field);
  const { choices, unmet } = chooseCredentials(ledger, synchronizer, now, party, requirements);
  for (const { requirement, isMetElsewhere } of unmet) {
    const { issuer, claims } = requirement;
    if (isMetElsewhere && !isSelf) selection.fail(409);
    const properties = claims.map((claim) => claim.split("=")[0] ?? "");
    if (!isMetElsewhere && isRequired) selection.fail(404, party, issuer, ...properties);
  }
  return choices;
}

/** Read from the newest service on the synchronizer, else from the newest anywhere; it is not disclosed. */
function enableResultContracts({ options }: Selection): ExpectedValue | undefined {
  const services = ofGroup(registrarsContracts(options.ledger, "RegistrarService", options.registrar), options.group);
  const service = services.find(({ synchronizerId }) => synchronizerId === options.synchronizer) ?? services[0];
  const value = read(service?.payload, "enableResultContracts");
  return typeof value === "boolean" ? { is: "flag", value } : undefined;
}

const rewardsOf = ({ options: { ledger, group } }: Selection): LedgerContract[] =>
  ofGroup(contractsOf(ledger, "AppRewardConfiguration"), group);

/** Anyone can create a FeaturedAppRight: it has to be of the DSO that the reward configuration names, if there is one. */
function rightsOf(selection: Selection): LedgerContract[] {
  const { ledger, group, synchronizer } = selection.options;
  const rewards = rewardsOf(selection);
  const here = rewards.find(({ synchronizerId }) => synchronizerId === synchronizer);
  const dso = readText((here ?? rewards[0])?.payload, "details.dso");
  return contractsOf(ledger, "FeaturedAppRight").filter(
    ({ payload }) =>
      readText(payload, "provider") === group.provider && [undefined, readText(payload, "dso")].includes(dso),
  );
}

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
