/** The value of each entry of a context. */
import type { Account } from "./accounts.js";
import type { EntryName } from "./contexts.js";
import { chooseCredentials, type CredentialChoice, requirementsOf } from "./credentials.js";
import type { ExpectedValue } from "./expected.js";
import { contractsOf, type LedgerContract, ofGroup, read, readText, registrarsContracts } from "./ledger.js";
import type { Selection } from "./selection.js";

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
