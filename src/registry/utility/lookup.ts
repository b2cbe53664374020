/** What the console and `offledger explain` look for: registrars, and what concerns a party. */
import type { Contract } from "../../domain/contract.js";
import type { View } from "../../store/port.js";
import { choicesOn, entityOf, instructionSearches } from "../engine/lookup.js";
import { roleOf, type TableFields } from "../engine/templates.js";
import type {
  InstrumentConfiguration,
  PartySearch,
  RegistryLookup,
  ServedInstrument,
  ServedRegistrar,
} from "../sdk/registry.js";
import { checkedOperations } from "./checks.js";
import type { UtilityContexts } from "./contexts.js";
import { groupOf } from "./group.js";
import {
  allocationFactory,
  claimsOn,
  type Credential,
  credential,
  instrumentConfiguration,
  registrarService,
  transferPreapproval,
  transferRule,
} from "./templates.js";

/** The templates of contracts that serve all instruments of a registrar. */
const services = [allocationFactory, registrarService, transferRule];

/** The parties with instruments or services, also those without a factory, which nobody can use. */
function registrars(view: View): ServedRegistrar[] {
  const byParty = new Map<string, { configurations: Contract<InstrumentConfiguration>[]; services: Contract[] }>();
  const ofParty = (party: string) => {
    const known = byParty.get(party) ?? { configurations: [], services: [] };
    byParty.set(party, known);
    return known;
  };
  for (const contract of view.all(instrumentConfiguration))
    ofParty(contract.fields.registrar).configurations.push(contract);
  for (const template of services)
    for (const contract of view.all(template)) ofParty(contract.fields.registrar ?? "").services.push(contract);
  return [...byParty]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([party, found]) => ({
      party,
      instruments: servedInstruments(found.configurations),
      services: found.services.map((contract) => ({ name: entityOf(contract), contract })),
    }));
}

/** The newest configuration of each instrument. They come newest first. */
function servedInstruments(configurations: readonly Contract<InstrumentConfiguration>[]): ServedInstrument[] {
  const byId = new Map<string, Contract<InstrumentConfiguration>>();
  for (const configuration of configurations) {
    const { id } = configuration.fields.defaultIdentifier;
    if (!byId.has(id)) byId.set(id, configuration);
  }
  return [...byId]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([id, configuration]) => {
      const { additionalIdentifiers, paused, checkBlocklist, holderRequirements, issuerRequirements } =
        configuration.fields;
      return {
        id,
        otherIds: [...new Set(additionalIdentifiers.map((other) => other.id))].filter((other) => !byId.has(other)),
        paused,
        checksBlocklist: checkBlocklist,
        holderRequirements,
        issuerRequirements,
        configuration,
      };
    });
}

/** Credentials with claims on a party, whether they are valid now or not. */
const findCredentials: PartySearch<Credential> = {
  template: credential,
  find: (_context, contracts, party) => ({
    credentials: contracts.flatMap((contract) => {
      const { fields } = contract;
      const claims = claimsOn(fields, party);
      if (claims.length === 0) return [];
      const { issuer, holder, validFrom, validUntil } = fields;
      return [{ contract, issuer, holder, claims, validFrom, validUntil }];
    }),
  }),
};

/** Preapprovals of a party as the receiver. */
const findPreapprovals: PartySearch<TableFields> = {
  template: transferPreapproval,
  find: (_context, contracts, party) => ({
    preapprovals: contracts
      .filter(({ fields }) => roleOf(fields, "receiver") === party)
      .map((contract) => {
        const { registrar = "", instruments } = contract.fields;
        return { contract, registrar, instruments };
      }),
  }),
};

/** What operators look up in the Registry Utility. */
export function createLookup(contexts: UtilityContexts): RegistryLookup {
  const choices = Array.from(checkedOperations(contexts).choices, ([choice, { strict }]) => ({ choice, strict }));
  return {
    registrars,
    partySearches: [findCredentials, findPreapprovals, ...instructionSearches(choices, groupOf)],
    choices: (contract) => choicesOn(choices, contract),
    packageVersion: (packageId) => contexts.packageVersions.versionOf(packageId),
  };
}
