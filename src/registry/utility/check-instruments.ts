/** What is wrong with the factories of registrars and the configurations of their instruments. */
import type { Contract } from "../../domain/contract.js";
import { causesOf, errorIn } from "../../domain/errors.js";
import type { View } from "../../state/port.js";
import type { Found } from "../engine/entries.js";
import { remedies } from "../engine/problems.js";
import { type Group, ofGroup } from "../engine/selector.js";
import type { TableFields } from "../engine/templates.js";
import type { Check, CheckContext, Warning } from "../sdk/registry.js";
import { anyInputs, attemptWith, checkChoices, type CheckedOperations, checkFactories, usableFor } from "./checks.js";
import {
  candidateConfigurations,
  distinctGroups,
  factoriesOf,
  findFactories,
  findGroupFactories,
  groupOf,
} from "./factory.js";
import { findConfiguration as lookUpConfiguration } from "./instruments.js";
import { allocationFactory, type ConfigurationFields, indexKeys, instrumentConfiguration } from "./templates.js";

type Configuration = Contract<ConfigurationFields>;

/** Examines at most this many additional identifiers of a configuration. */
const MAX_IDENTIFIERS = 100;
/** A sentence names at most this many groups. */
const MAX_NAMED = 5;
/** The id of an instrument, where there is none. */
const ANY = "any";

/** Registrars that have a factory, but no instrument; and groups whose factories have no version 2. */
export const checkRegistrars = (operations: CheckedOperations): Check<TableFields> => ({
  template: allocationFactory,
  warnings(context, factories) {
    const bare = factories.filter((factory) => isNewestWithoutInstrument(context.view, factory));
    return [
      ...factories.flatMap((factory) => checkVersion2(context, operations, factory)),
      ...bare.flatMap((factory) => checkForConfigurations(context, operations, factory)),
    ];
  },
});

const isFirst = ({ contractId }: Contract, [first]: readonly Contract[]): boolean => first?.contractId === contractId;

const isNewestWithoutInstrument = (view: View, factory: Found): boolean => {
  const { registrar = "" } = factory.fields;
  return (
    isFirst(factory, findFactories(view, registrar)) &&
    view.byKey(instrumentConfiguration, indexKeys.instruments(registrar)).length === 0
  );
};

function checkVersion2(
  context: CheckContext,
  { packageVersions }: CheckedOperations,
  factory: Found,
): readonly Warning[] {
  const group = groupOf(factory);
  const { registrar } = group;
  const factories = factoriesOf(context.view, group);
  // One warning for each group.
  if (!isFirst(factory, factories)) return [];
  if (usableFor("settlement-factory", factories, packageVersions).length > 0) return [];
  const query = { registrar, instruments: [], inputHoldings: [], groupNamed: () => group, version2: packageVersions };
  const error = errorIn(() => findGroupFactories(context, query));
  if (error === undefined) return [];
  return [
    {
      kind: "no-version-2",
      registrar,
      contractId: factory.contractId,
      operations: ["settlement-factory"],
      refusal: error.reason,
      problem: `${error.message}. Requests of version 2 for a factory of provider ${group.provider} are refused`,
      remedy: remedies["no-version-2"],
    },
  ];
}

function checkForConfigurations(
  context: CheckContext,
  { factories: operations }: CheckedOperations,
  factory: Found,
): readonly Warning[] {
  const { registrar = "" } = factory.fields;
  const attempt = attemptWith(context, groupOf(factory), [factory], anyInputs(ANY));
  const failing = [...operations.values()].filter(({ answered }) => {
    const error = errorIn(() => attempt(answered));
    return error !== undefined && causesOf(error).some(({ code }) => code === "configuration-missing");
  });
  if (failing.length === 0) return [];
  return [
    {
      kind: "no-configuration",
      registrar,
      operations: [...failing.map(({ operation }) => operation), "instrument-configuration"],
      refusal: "not-found",
      problem: `registrar ${registrar} has an AllocationFactory, but no InstrumentConfiguration`,
      remedy: remedies["no-configuration"],
    },
  ];
}

/**
 * Instruments for which an operation cannot be answered for any party, or not for certain. The newest configuration of an
 * instrument in each group is checked: the others are not used.
 */
export const checkInstruments = (operations: CheckedOperations): Check<ConfigurationFields> => ({
  template: instrumentConfiguration,
  warnings(context, configurations) {
    return configurations.flatMap((configuration) => {
      const { registrar, defaultIdentifier } = configuration.fields;
      const { id } = defaultIdentifier;
      const group = groupOf(configuration);
      const candidates = candidateConfigurations(context.view, registrar, id);
      if (!isFirst(configuration, ofGroup(candidates, group))) return [];
      return [
        ...checkFactories(context, operations, group, id),
        ...checkChoices(context, operations, group, id),
        ...checkLookup(context, configuration, candidates),
        ...(isFirst(configuration, candidates) ? checkGroups(operations, candidates) : []),
        ...checkIdentifiers(context, configuration),
      ];
    });
  },
});

/** Whether the configuration can be looked up: not while it is in reassignment. */
function checkLookup(
  context: CheckContext,
  { fields: { registrar, defaultIdentifier: identifier } }: Configuration,
  [newest]: readonly Configuration[],
): readonly Warning[] {
  const error = errorIn(() => lookUpConfiguration(context, { registrar, identifier }));
  if (error === undefined) return [];
  return [
    {
      kind: "configuration-in-reassignment",
      registrar,
      instrument: identifier.id,
      contractId: newest?.contractId,
      operations: ["instrument-configuration"],
      refusal: error.reason,
      problem: error.message,
      remedy: remedies["configuration-in-reassignment"],
    },
  ];
}

/** Whether several groups have the instrument. Then its name alone does not say whose factory a request needs. */
function checkGroups({ factories }: CheckedOperations, candidates: readonly Configuration[]): readonly Warning[] {
  const [answering, ...others] = distinctGroups(candidates);
  const [newest] = candidates;
  if (newest === undefined || answering === undefined || others.length === 0) return [];
  const { registrar, defaultIdentifier } = newest.fields;
  const named = others.slice(0, MAX_NAMED).map(nameOf).join(", ");
  const more = others.length > MAX_NAMED ? `, and ${others.length - MAX_NAMED} more` : "";
  return [
    {
      kind: "several-groups",
      registrar,
      instrument: defaultIdentifier.id,
      contractId: newest.contractId,
      // The allocations of a settlement name their group.
      operations: [...factories.keys()].filter((operation) => operation !== "settlement-factory"),
      problem:
        `${others.length + 1} groups have instrument "${defaultIdentifier.id}" of registrar ${registrar}. Where the input ` +
        `holdings of a request cannot be read, or there are none, ${nameOf(answering)} answers, which has the newest ` +
        `configuration; the ledger refuses the answer for ${named}${more}`,
      remedy: remedies["several-groups"],
    },
  ];
}

const nameOf = ({ operator, provider }: Group): string => `(operator ${operator}, provider ${provider})`;

/** The ids, each once, under which a configuration can be looked up besides its own. */
const additionalIds = ({ fields }: Configuration): readonly string[] => {
  const ids = new Set(fields.additionalIdentifiers.slice(0, MAX_IDENTIFIERS).map(({ id }) => id));
  ids.delete(fields.defaultIdentifier.id);
  return [...ids];
};

/** Additional identifiers that find another instrument: its default identifier, or an additional one of a newer configuration. */
function checkIdentifiers({ view }: CheckContext, configuration: Configuration): readonly Warning[] {
  const { registrar, defaultIdentifier } = configuration.fields;
  return additionalIds(configuration).flatMap((id): Warning[] => {
    const [byDefault] = candidateConfigurations(view, registrar, id);
    const [byAdditional] = view.byKey(instrumentConfiguration, indexKeys.additionalIdentifier(registrar, id));
    const found = (byDefault ?? byAdditional)?.fields.defaultIdentifier.id;
    if (found === undefined || found === defaultIdentifier.id) return [];
    const why = byDefault === undefined ? "which lists it too, in a newer configuration" : "whose own id it is";
    return [
      {
        kind: "ambiguous-identifier",
        registrar,
        instrument: defaultIdentifier.id,
        contractId: configuration.contractId,
        operations: ["metadata", "instrument-configuration"],
        problem:
          `the additional identifier "${id}" of instrument "${defaultIdentifier.id}" of registrar ${registrar} finds ` +
          `instrument "${found}", ${why}`,
        remedy: remedies["ambiguous-identifier"],
      },
    ];
  });
}
