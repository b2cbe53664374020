/** What the table of the Registry Utility cannot say: the functions that its entries name, and its facts. */
import { z } from "zod";
import type { Contract } from "../../domain/contract.js";
import { refuse, type RegistryError } from "../../domain/errors.js";
import type { ChoiceContextBuilder, EntryPart, LineCondition } from "../engine/choice-context.js";
import { allOf, type Found } from "../engine/entries.js";
import { FACTS } from "../engine/file.js";
import type { EntryFunction } from "../engine/table-types.js";
import { type ContractSelector, ofGroup, otherGroups } from "../engine/selector.js";
import { roleOf } from "../engine/templates.js";
import { partiesNamed, type PartiesOf } from "../engine/terms.js";
import { neededContract } from "../needed.js";
import type { Considered, NamedValue } from "../sdk/registry.js";
import { type Role, selectCredentials } from "./credentials.js";
import { configurationOf, configurationsOf } from "./factory.js";
import { entryNamed, featuredAppRight, holding, registrarService, utilityFile } from "./templates.js";

/** The provider is that of the group, else of the first instrument's configuration. */
export const partiesOf: PartiesOf = (selector, subject, role) => {
  if (role !== "provider") return partiesNamed(selector, subject, role);
  const { provider } = selector.group;
  const [instrument] = subject.instruments;
  if (provider !== undefined || instrument === undefined) return provider === undefined ? [] : [provider];
  const configuration = configurationOf(selector, instrument, false);
  return configuration === undefined ? [] : [configuration.fields.provider];
};

const blocklistNeeded = (instrument: string, registrar: string): RegistryError =>
  refuse(
    "blocklist-not-configured",
    `instrument "${instrument}" of registrar ${registrar} has checkBlocklist set, but this service has no blocklist ` +
      "to disclose for this operation, so the choice would fail: the operator can add one in OFFLEDGER_CONTEXTS",
    { registrar, instrument },
  );

/** The configuration of the instrument; left out if there is not exactly one instrument. */
const instrumentConfigurationEntry: EntryPart = {
  value(builder, selector, { instruments }, required) {
    const [only] = instruments;
    if (only === undefined || instruments.length > 1) return undefined;
    const configuration = configurationOf(selector, only, required);
    return configuration === undefined ? undefined : builder.reference(configuration);
  },
};

/** The configurations of all instruments, by instrument id. */
const instrumentConfigurationsEntry: EntryPart = {
  value(builder, selector, { instruments }, required) {
    const configurations: NamedValue[] = [];
    for (const id of instruments) {
      const configuration = configurationOf(selector, id, required);
      if (configuration !== undefined) configurations.push({ name: id, value: builder.reference(configuration) });
    }
    return { tag: "AV_Map", value: configurations };
  },
};

const credentialsArguments = z.strictObject({
  /** The parties. `accounts`: those of a settlement. */
  of: z.enum(["sender", "receiver", "holder", "accounts"]),
  /** Which requirements of the instruments count. */
  requirements: z.enum(["holder", "issuer"]),
});

/** The credentials of parties for their instruments, in one list; those of accounts by party. */
const credentialsEntry = ({ of, requirements }: z.infer<typeof credentialsArguments>): EntryPart => ({
  value(builder, selector, { roles, instruments, sent = instruments, holders = [] }, required) {
    if (of !== "accounts") {
      // The sender's for the instruments that it gives away.
      const about = of === "sender" ? sent : instruments;
      return builder.referenceAll(credentialsOf(selector, roles[of], requirements, about, required));
    }
    const byParty = holders.map(({ party, instruments: held }) => ({
      name: party,
      value: builder.referenceAll(selectCredentials(selector, party, requirements, held, required)),
    }));
    return { tag: "AV_Map", value: byParty };
  },
});

/** Those of all the parties. One credential of an issuer may serve several. */
function credentialsOf(
  selector: ContractSelector,
  parties: readonly string[] = [],
  role: Role,
  instruments: readonly string[],
  required: boolean,
): readonly Contract[] {
  const chosen = parties.flatMap((party) => selectCredentials(selector, party, role, instruments, required));
  return parties.length > 1 ? [...new Set(chosen)] : chosen;
}

/**
 * Whether the service of the group asks for result contracts. Left out if it does not say or does not exist: the packages
 * read that as true, so a value would change what happens on the ledger.
 */
const enableResultContractsEntry: EntryPart = {
  value(_builder, selector) {
    const { context, view, registrar } = selector;
    const all = allOf(registrarService, view, registrar);
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
    const enabled = chosen?.fields.flags?.["enableResultContracts"];
    return enabled === undefined ? undefined : { tag: "AV_Bool", value: enabled };
  },
};

const allRights = entryNamed("any-featured-app-right");
const rewards = entryNamed("app-reward-configuration");

const featuredAppRightEntry: EntryPart = {
  value(builder, selector, subject, required) {
    const [provider] = partiesOf(selector, subject, "provider");
    if (provider === undefined) return undefined;
    const rights = allRights.candidates(selector.view, selector.registrar, [provider]);
    const candidates = rights.length === 0 ? rights : rightsThatCount(selector, rights, provider);
    const considered =
      candidates === rights || selector.context.recorder === undefined ? undefined : explainRights(rights, candidates);
    const needed = () =>
      neededContract(`the FeaturedAppRight of provider ${provider}`, { template: featuredAppRight.qualifiedName });
    const found = selector.select(candidates, required, needed, considered);
    return found === undefined ? undefined : builder.reference(found);
  },
};

/** Anyone can create a FeaturedAppRight. If the provider has any reward configuration, only rights of its DSO count. */
function rightsThatCount(selector: ContractSelector, rights: readonly Found[], provider: string): readonly Found[] {
  const all = rewards.candidates(selector.view, selector.registrar, [provider]);
  const ofProvider = ofGroup(all, selector.group);
  const reward = selector.newest(ofProvider) ?? ofProvider[0];
  const dso = reward && roleOf(reward.fields, "dso");
  return dso === undefined ? rights : rights.filter(({ fields }) => roleOf(fields, "dso") === dso);
}

function explainRights(rights: readonly Contract[], candidates: readonly Contract[]): Considered {
  const counting = new Set(candidates);
  const others = rights.filter((right) => !counting.has(right));
  const reasons = new Map(others.map((right) => [right, "is of another DSO than the AppRewardConfiguration"]));
  return { candidates: rights, reasons };
}

const factoryDisclosure: EntryPart = {
  disclose(builder, _selector, { factory }) {
    if (factory !== undefined) builder.disclose(factory);
  },
};

/** The holdings that the instruction has locked: of the issuance templates only BurnRequest locks one. */
const lockedHoldingDisclosure: EntryPart = {
  disclose(builder, selector, { refs }, required) {
    discloseHoldings(builder, selector, refs?.["locked"], required);
  },
};

const allocationsDisclosure: EntryPart = {
  disclose(builder, selector, { allocations = [] }) {
    for (const allocation of allocations) {
      const needed = () => ({
        name: "the allocation",
        kind: "instruction",
        registrar: allocation.fields.registrar,
      });
      if (selector.select([allocation], true, needed) !== undefined) builder.disclose(allocation);
    }
  },
};

const allocationHoldingsDisclosure: EntryPart = {
  disclose(builder, selector, { allocations = [] }, required) {
    for (const { fields } of allocations) discloseHoldings(builder, selector, fields.refs["locked"], required);
  },
};

function discloseHoldings(
  builder: ChoiceContextBuilder,
  selector: ContractSelector,
  contractIds: readonly string[] = [],
  required: boolean,
): void {
  for (const contractId of contractIds) {
    const found = selector.view.byId(holding, contractId);
    const chosen = selector.select(found === undefined ? [] : [found], required, () => ({
      name: `the locked holding ${contractId}`,
      kind: "holding",
      contractId,
      template: holding.qualifiedName,
    }));
    if (chosen !== undefined) builder.disclose(chosen);
  }
}

/** An instrument with `checkBlocklist` is refused: the choice would fail, and no line discloses a blocklist. */
const noBlocklist: EntryPart = {
  require(selector) {
    selector.failWhenComplete(() =>
      Array.from(configurationsOf(selector))
        .filter(([, { fields }]) => fields.checkBlocklist)
        .map(([instrument]) => blocklistNeeded(instrument, selector.registrar)),
    );
  },
};

const plain = (part: EntryPart): EntryFunction => ({
  arguments: z.strictObject({}),
  make: () => part,
});

export const functions: Readonly<Record<string, EntryFunction>> = {
  configuration: plain(instrumentConfigurationEntry),
  configurations: plain(instrumentConfigurationsEntry),
  credentials: {
    arguments: credentialsArguments,
    make: (given) => credentialsEntry(credentialsArguments.parse(given)),
  },
  "featured-app-right": plain(featuredAppRightEntry),
  "enable-result-contracts": plain(enableResultContractsEntry),
  factory: plain(factoryDisclosure),
  "locked-holdings": plain(lockedHoldingDisclosure),
  allocations: plain(allocationsDisclosure),
  "allocation-holdings": plain(allocationHoldingsDisclosure),
  "no-blocklist": plain(noBlocklist),
};

/** What a line may be for, besides FACTS. */
export const facts: Readonly<Record<string, LineCondition>> = {
  ...FACTS,
  /** An instrument of the request has `checkBlocklist` set. */
  "check-blocklist": (selector, { instruments }) =>
    instruments.some((id) => configurationOf(selector, id, false)?.fields.checkBlocklist === true),
  /** An instrument of the request has a configuration of the group on the synchronizer of the answer. */
  configured: (selector, { instruments }) =>
    instruments.some((id) => configurationOf(selector, id, false) !== undefined),
};

/** The role whose credentials an entry has; undefined for other entries. */
export const credentialRoles: ReadonlyMap<string, Role> = new Map(
  Object.entries(utilityFile.entries ?? {}).flatMap(([name, { function: named, with: given }]) =>
    named === "credentials" ? [[name, credentialsArguments.parse(given).requirements] as const] : [],
  ),
);
