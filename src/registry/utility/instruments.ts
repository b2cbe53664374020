/** What is asked besides the operations: instruments, their supply and configurations, registrars, and what concerns a party. */
import type { Contract } from "../../domain/contract.js";
import { refuse } from "../../domain/errors.js";
import type { View } from "../../state/port.js";
import { choicesOn, entityOf, instructionSearches } from "../engine/lookup.js";
import { roleOf, type TableFields } from "../engine/templates.js";
import { isInReassignment, onOneSynchronizer } from "../needed.js";
import { decimalText } from "../../domain/decimal.js";
import type {
  Instrument,
  InstrumentConfiguration,
  InstrumentIdentifier,
  InstrumentQuery,
  PartySearch,
  RegistryLookup,
  RequestContext,
  Search,
  ServedInstrument,
  ServedRegistrar,
  Sought,
  Supply,
} from "../sdk/registry.js";
import type { UtilityContexts } from "./contexts.js";
import { groupOf, requireFactories } from "./factory.js";
import {
  allocationFactory,
  claimsOn,
  type Credential,
  credential,
  indexKeys,
  instrumentConfiguration,
  registrarService,
  transferPreapproval,
  transferRule,
} from "./templates.js";

/** A registrar's instruments, from the newest configuration of each, on any synchronizer. */
export function instruments({ view }: RequestContext, registrar: string): Instrument[] {
  const configurations = view.byKey(instrumentConfiguration, indexKeys.instruments(registrar));
  requireFactories(view, registrar);
  return newestOfEach(configurations).map(({ id, otherIds, fields: { paused } }) => ({ id, otherIds, paused }));
}

/** The newest configuration of each instrument. They come newest first. */
function newestOfEach(configurations: readonly Contract<InstrumentConfiguration>[]) {
  const byId = newestBy(configurations, ({ defaultIdentifier }) => defaultIdentifier.id);
  // A default id names only its own instrument, even if another configuration lists it as additional.
  return Array.from(byId, ([id, configuration]) => {
    const { fields } = configuration;
    const others = new Set(fields.additionalIdentifiers.map((other) => other.id));
    return { id, otherIds: [...others].filter((other) => !byId.has(other)), fields, configuration };
  });
}

/** The first contract of each name: they come newest first. */
export function newestBy<F>(contracts: readonly Contract<F>[], nameOf: (fields: F) => string) {
  const found = new Map<string, Contract<F>>();
  for (const contract of contracts) {
    const name = nameOf(contract.fields);
    if (!found.has(name)) found.set(name, contract);
  }
  return found;
}

/** The sum of all holdings of each instrument, under any of its ids. */
export function totalSupply(
  { view }: RequestContext,
  registrar: string,
  listed: readonly Instrument[],
): (Supply | undefined)[] {
  const { asOf } = view;
  if (asOf === undefined) return listed.map(() => undefined);
  const names = listed.map(({ id, otherIds }) => [id, ...otherIds].map((name) => indexKeys.supply(registrar, name)));
  const sums = view.sums(names.flat());
  let next = 0;
  return names.map(({ length }) => {
    const total = sums.slice(next, next + length).reduce((sum, amount) => sum + amount, 0n);
    next += length;
    return { total: decimalText(total), asOf };
  });
}

/** The newest configuration of an instrument by its default identifier; without one, by an additional one. */
export function findConfiguration(
  { view, recorder }: RequestContext,
  { registrar, identifier }: InstrumentQuery,
): Contract<InstrumentConfiguration> {
  const keys = [
    indexKeys.instrument(registrar, identifier.id),
    indexKeys.additionalIdentifier(registrar, identifier.id),
  ];
  const [byDefault = [], byAdditional = []] = keys.map((key) => view.byKey(instrumentConfiguration, key));
  const found = [...byDefault, ...byAdditional.filter((one) => !byDefault.includes(one))];
  const ofDefault = byDefault.filter(({ fields }) => isSame(fields.defaultIdentifier, identifier));
  const matching =
    ofDefault.length > 0
      ? ofDefault
      : byAdditional.filter(({ fields }) => fields.additionalIdentifiers.some((known) => isSame(known, identifier)));
  const { source, id, scheme } = identifier;
  const name = `the InstrumentConfiguration of registrar ${registrar} for source "${source}", id "${id}", scheme "${scheme}"`;
  const needed = {
    name,
    kind: "configuration",
    registrar,
    instrument: id,
    template: instrumentConfiguration.qualifiedName,
  };
  if (recorder !== undefined && matching.length === 0) recorder.search(otherIdentifiers(needed, identifier.id, found));
  return onOneSynchronizer(
    matching,
    () => needed,
    recorder,
    (configuration) => configuration,
  );
}

/** The search that finds no configuration: those with the id have it from another source, or under another scheme. */
function otherIdentifiers(
  needed: Sought,
  id: string,
  candidates: readonly Contract<InstrumentConfiguration>[],
): Search {
  const identifiersOf = ({ fields }: Contract<InstrumentConfiguration>) =>
    [fields.defaultIdentifier, ...fields.additionalIdentifiers].filter((known) => known.id === id);
  const describe = (known: InstrumentIdentifier) => `source "${known.source}", id "${id}", scheme "${known.scheme}"`;
  const reasons = new Map<Contract, string>();
  for (const candidate of candidates)
    reasons.set(candidate, `is for ${identifiersOf(candidate).map(describe).join(", and ")}`);
  return { needed, candidates, chosen: undefined, required: true, reasons };
}

/** The newest configuration per registrar and default identifier, without those in reassignment, sorted by both. */
export function listConfigurations({ view }: RequestContext): Contract<InstrumentConfiguration>[] {
  const settled = view.all(instrumentConfiguration).filter((one) => !isInReassignment(one));
  const newest = newestBy(settled, ({ registrar, defaultIdentifier: { source, id, scheme } }) =>
    JSON.stringify([registrar, id, source, scheme]),
  );
  return [...newest].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, configuration]) => configuration);
}

function isSame(a: InstrumentIdentifier, b: InstrumentIdentifier): boolean {
  return a.source === b.source && a.id === b.id && a.scheme === b.scheme;
}

/** The operator that the newest AllocationFactory names. */
export function operator({ view }: RequestContext): string {
  const [newest] = view.all(allocationFactory);
  const party = newest && roleOf(newest.fields, "operator");
  if (party === undefined) throw refuse("operator-unknown", "the operator is not known: there is no AllocationFactory");
  return party;
}

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

const servedInstruments = (configurations: readonly Contract<InstrumentConfiguration>[]): ServedInstrument[] =>
  newestOfEach(configurations)
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
    .map(({ id, otherIds, configuration, fields }) => {
      const { paused, checkBlocklist: checksBlocklist, holderRequirements, issuerRequirements } = fields;
      return { id, otherIds, paused, checksBlocklist, holderRequirements, issuerRequirements, configuration };
    });

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

const findPreapprovals: PartySearch<TableFields> = {
  template: transferPreapproval,
  find: (_context, contracts, party) => ({
    preapprovals: contracts
      .filter(({ fields }) => roleOf(fields, "receiver") === party)
      .map((contract) => {
        const { registrar = "", instruments: allowed } = contract.fields;
        return { contract, registrar, instruments: allowed };
      }),
  }),
};

/** What operators look up in the Registry Utility. */
export function createLookup(contexts: UtilityContexts): RegistryLookup {
  const choices = Object.values(contexts.choices);
  return {
    registrars,
    partySearches: [findCredentials, findPreapprovals, ...instructionSearches(choices, groupOf)],
    choices: (contract) => choicesOn(choices, contract),
    packageVersion: (packageId) => contexts.packageVersions.versionOf(packageId),
  };
}
