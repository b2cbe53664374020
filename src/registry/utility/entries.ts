import type { Contract } from "../../domain/contract.js";
import type { Template } from "../../domain/template.js";
import type { View } from "../../store/port.js";
import type { Considered, NamedValue } from "../sdk/registry.js";
import type { ChoiceContextBuilder, ContextEntry, Disclosure, EntryInputs } from "./context.js";
import { indexKeys } from "./index-keys.js";
import type { LockedHoldings } from "./instructions.js";
import { type Needed, neededContract } from "../needed.js";
import type { ContractSelector } from "./selector.js";
import { selectCredentials } from "./credentials.js";
import { ofGroup, otherGroups } from "./group.js";
import {
  type AppRewardConfiguration,
  appRewardConfiguration,
  type FeaturedAppRight,
  featuredAppRight,
  holding,
  registrarService,
  transferRule,
} from "./templates.js";

/** The configuration of the instrument; left out if there is not exactly one instrument. */
const instrumentConfigurationEntry: ContextEntry = {
  value(builder, selector, { instruments }, required) {
    const [only] = instruments;
    if (only === undefined || instruments.length > 1) return undefined;
    const configuration = selector.configuration(only, required);
    return configuration === undefined ? undefined : builder.reference(configuration);
  },
};

/** The configurations of all instruments, by instrument id. */
const instrumentConfigurationsEntry: ContextEntry = {
  value(builder, selector, { instruments }, required) {
    const configurations: NamedValue[] = [];
    for (const id of instruments) {
      const configuration = selector.configuration(id, required);
      if (configuration !== undefined) configurations.push({ name: id, value: builder.reference(configuration) });
    }
    return { tag: "AV_Map", value: configurations };
  },
};

/** The sender's credentials for the instruments that it gives away. */
export const senderCredentialsEntry: ContextEntry = {
  value(builder, selector, { sender, instruments, sent = instruments }, required) {
    const chosen = sender === undefined ? [] : selectCredentials(selector, sender, "holder", sent, required);
    return builder.referenceAll(chosen);
  },
};

export const receiverCredentialsEntry: ContextEntry = {
  value(builder, selector, { receiver, instruments }, required) {
    const chosen = receiver === undefined ? [] : selectCredentials(selector, receiver, "holder", instruments, required);
    return builder.referenceAll(chosen);
  },
};

/** The credentials of all parties whose holdings are minted or burned, in one list. */
export const issuerCredentialsEntry: ContextEntry = {
  value(builder, selector, { issuers = [], instruments }, required) {
    const chosen = issuers.flatMap((party) => selectCredentials(selector, party, "issuer", instruments, required));
    // One credential of an issuer may serve several parties.
    return builder.referenceAll(issuers.length > 1 ? [...new Set(chosen)] : chosen);
  },
};

/** The credentials of each account party of a settlement, by party. */
export const holderCredentialsEntry: ContextEntry = {
  value(builder, selector, { holders = [] }, required) {
    const byParty = holders.map(({ party, instruments }) => ({
      name: party,
      value: builder.referenceAll(selectCredentials(selector, party, "holder", instruments, required)),
    }));
    return { tag: "AV_Map", value: byParty };
  },
};

const transferRuleEntry: ContextEntry = {
  value(builder, selector, _inputs, required) {
    const { view, registrar } = selector;
    const rule = selector.selectOfGroup(view.byKey(transferRule, indexKeys.transferRule(registrar)), required, {
      name: `the TransferRule of registrar ${registrar}`,
      kind: "rule",
      registrar,
      template: transferRule.qualifiedName,
    });
    return rule === undefined ? undefined : builder.reference(rule);
  },
};

/**
 * Whether the service of the group asks for result contracts. Left out if it does not say or does not exist: the packages
 * read that as true, so a value would change what happens on the ledger.
 */
const enableResultContractsEntry: ContextEntry = {
  value(_builder, selector) {
    const { context, view, registrar } = selector;
    const all = view.byKey(registrarService, indexKeys.service(registrar));
    const services = ofGroup(all, selector.group);
    // The service is only read, not disclosed, so any synchronizer will do.
    const chosen = selector.newest(services) ?? services[0];
    context.recorder?.search({
      needed: {
        name: `the RegistrarService of registrar ${registrar}`,
        template: registrarService.qualifiedName,
      },
      candidates: services,
      ...(services !== all && otherGroups(all, selector.group)),
      chosen,
      required: false,
    });
    const enabled = chosen?.fields.enableResultContracts;
    return enabled === undefined ? undefined : { tag: "AV_Bool", value: enabled };
  },
};

/** The provider of the request: that of its group, else of the first instrument's configuration. */
export function selectProvider(selector: ContractSelector, { provider, instruments }: EntryInputs): string | undefined {
  if (provider !== undefined) return provider;
  const instrument = instruments[0];
  return instrument === undefined ? undefined : selector.configuration(instrument, false)?.fields.provider;
}

const appRewardConfigurationEntry: ContextEntry = {
  value(builder, selector, inputs, required) {
    const provider = selectProvider(selector, inputs);
    if (provider === undefined) return undefined;
    const candidates = rewardsOf(selector.view, provider);
    const found = selector.selectOfGroup(candidates, required, neededOf(appRewardConfiguration, provider));
    return found === undefined ? undefined : builder.reference(found);
  },
};

const featuredAppRightEntry: ContextEntry = {
  value(builder, selector, inputs, required) {
    const provider = selectProvider(selector, inputs);
    if (provider === undefined) return undefined;
    const rights = selector.view.byKey(featuredAppRight, indexKeys.featuredAppRight(provider));
    const candidates = rights.length === 0 ? rights : rightsThatCount(selector, rights, provider);
    const considered =
      candidates === rights || selector.context.recorder === undefined ? undefined : explainRights(rights, candidates);
    const found = selector.select(candidates, required, () => neededOf(featuredAppRight, provider), considered);
    return found === undefined ? undefined : builder.reference(found);
  },
};

const neededOf = ({ qualifiedName }: Template, provider: string): Needed =>
  neededContract(`the ${qualifiedName.split(":")[1]} of provider ${provider}`, {
    party: provider,
    template: qualifiedName,
  });

function rewardsOf(view: View, provider: string): readonly Contract<AppRewardConfiguration>[] {
  return view.byKey(appRewardConfiguration, indexKeys.appReward(provider));
}

/** Anyone can create a FeaturedAppRight. If the provider has any reward configuration, only rights of its DSO count. */
function rightsThatCount(
  selector: ContractSelector,
  rights: readonly Contract<FeaturedAppRight>[],
  provider: string,
): readonly Contract<FeaturedAppRight>[] {
  const rewards = ofGroup(rewardsOf(selector.view, provider), selector.group);
  const dso = (selector.newest(rewards) ?? rewards[0])?.fields.dso;
  return dso === undefined ? rights : rightsOfDso(rights, dso);
}

function explainRights(rights: readonly Contract[], candidates: readonly Contract[]): Considered {
  const counting = new Set(candidates);
  const others = rights.filter((right) => !counting.has(right));
  const reasons = new Map(others.map((right) => [right, "is of another DSO than the AppRewardConfiguration"]));
  return { candidates: rights, reasons };
}

/** Returns the given list if nothing is to be filtered out, which is the usual case. */
function rightsOfDso(
  rights: readonly Contract<FeaturedAppRight>[],
  dso: string,
): readonly Contract<FeaturedAppRight>[] {
  for (const right of rights) if (right.fields.dso !== dso) return rights.filter(({ fields }) => fields.dso === dso);
  return rights;
}

const factoryDisclosure: Disclosure = {
  disclose(builder, _selector, { factory }) {
    if (factory !== undefined) builder.disclose(factory);
  },
};

/** The holdings that the instruction has locked: of the issuance templates only BurnRequest locks one. */
export const lockedHoldingDisclosure: Disclosure = {
  disclose(builder, selector, inputs, required) {
    discloseHoldings(builder, selector, inputs, required);
  },
};

const allocationsDisclosure: Disclosure = {
  disclose(builder, selector, { allocations = [] }) {
    for (const allocation of allocations) {
      const needed = () => ({
        name: `allocation ${allocation.contractId}`,
        kind: "instruction",
        registrar: allocation.fields.admin,
      });
      if (selector.select([allocation], true, needed) !== undefined) builder.disclose(allocation);
    }
  },
};

const allocationHoldingsDisclosure: Disclosure = {
  disclose(builder, selector, { allocations = [] }, required) {
    for (const { fields } of allocations) discloseHoldings(builder, selector, fields, required);
  },
};

function discloseHoldings(
  builder: ChoiceContextBuilder,
  selector: ContractSelector,
  { lockedHolding, otherLockedHoldings }: LockedHoldings,
  required: boolean,
): void {
  if (lockedHolding !== undefined) discloseHolding(builder, selector, lockedHolding, required);
  if (otherLockedHoldings === undefined) return;
  for (const id of otherLockedHoldings) discloseHolding(builder, selector, id, required);
}

function discloseHolding(
  builder: ChoiceContextBuilder,
  selector: ContractSelector,
  contractId: string,
  required: boolean,
): void {
  const found = selector.view.byId(holding, contractId);
  const chosen = selector.select(found === undefined ? [] : [found], required, () => ({
    name: `the locked holding ${contractId}`,
    kind: "holding",
    contractId,
    template: holding.qualifiedName,
  }));
  if (chosen !== undefined) builder.disclose(chosen);
}

/** The built-in entries and disclosures, by the names that contexts.yaml uses. */

export const builtInEntries: Readonly<Record<string, ContextEntry>> = {
  "instrument-configuration": instrumentConfigurationEntry,
  "instrument-configurations": instrumentConfigurationsEntry,
  "sender-credentials": senderCredentialsEntry,
  "receiver-credentials": receiverCredentialsEntry,
  "issuer-credentials": issuerCredentialsEntry,
  "holder-credentials": holderCredentialsEntry,
  "transfer-rule": transferRuleEntry,
  "app-reward-configuration": appRewardConfigurationEntry,
  "featured-app-right": featuredAppRightEntry,
  "enable-result-contracts": enableResultContractsEntry,
};

export const builtInDisclosures: Readonly<Record<string, Disclosure>> = {
  factory: factoryDisclosure,
  "locked-holding": lockedHoldingDisclosure,
  allocations: allocationsDisclosure,
  "allocation-holdings": allocationHoldingsDisclosure,
};
