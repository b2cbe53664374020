import type { Contract } from "../../../domain/contract.js";
import type { View } from "../../../store/port.js";
import type { InstrumentConfiguration, ServedInstrument, ServedRegistrar } from "../../sdk/registry.js";
import { instrumentConfiguration } from "../templates/instruments.js";
import { allocationFactory, registrarService, transferRule } from "../templates/services.js";

/** The templates of contracts that serve all instruments of a registrar. */
const services = [allocationFactory, registrarService, transferRule];

/** The parties with instruments or services, also those without a factory, which nobody can use. */
export function registrars(view: View): ServedRegistrar[] {
  const byParty = new Map<string, { configurations: Contract<InstrumentConfiguration>[]; services: Contract[] }>();
  const ofParty = (party: string) => {
    const known = byParty.get(party) ?? { configurations: [], services: [] };
    byParty.set(party, known);
    return known;
  };
  for (const contract of view.all(instrumentConfiguration))
    ofParty(contract.fields.registrar).configurations.push(contract);
  for (const template of services)
    for (const contract of view.all<{ readonly registrar: string }>(template))
      ofParty(contract.fields.registrar).services.push(contract);
  return [...byParty]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([party, found]) => ({
      party,
      instruments: instrumentsOf(found.configurations),
      services: found.services.map((contract) => ({ name: entityOf(contract), contract })),
    }));
}

/** `AllocationFactory` of `Utility.Registry.App.V0.Service.AllocationFactory:AllocationFactory`. */
const entityOf = ({ template }: Contract): string => template.qualifiedName.split(":")[1] ?? template.qualifiedName;

/** The newest configuration of each instrument. They come newest first. */
function instrumentsOf(configurations: readonly Contract<InstrumentConfiguration>[]): ServedInstrument[] {
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
