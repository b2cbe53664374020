/** What no single request shows of registrars and instruments: none is configured, several groups, ambiguous identifiers. */
import type { Contract } from "../../domain/contract.js";
import { causesOf, errorIn } from "../../domain/errors.js";
import { type Group, ofGroup } from "../engine/selector.js";
import type { TableFields } from "../engine/templates.js";
import { type Check, type CheckContext, type Warning, warningOf } from "../sdk/warnings.js";
import { attempt, checkInstrument } from "./checks.js";
import { candidateConfigurations, distinctGroups, findFactories, groupOf } from "./factory.js";
import type { UtilityContexts } from "./contexts.js";
import { allocationFactory, type ConfigurationFields, indexKeys, instrumentConfiguration } from "./templates.js";

type Configuration = Contract<ConfigurationFields>;

/** Examines at most this many additional identifiers of a configuration. */
const MAX_IDENTIFIERS = 100;
/** A sentence names at most this many groups. */
const MAX_NAMED = 5;

/** Registrars that have a factory, but no instrument. */
export const checkRegistrars = (contexts: UtilityContexts): Check<TableFields> => ({
  template: allocationFactory,
  warnings: (context, factories) =>
    factories.flatMap((factory) => {
      const { registrar = "" } = factory.fields;
      const { view } = context;
      const hasInstrument = view.byKey(instrumentConfiguration, indexKeys.instruments(registrar)).length > 0;
      if (hasInstrument || !isFirst(factory, findFactories(view, registrar))) return [];
      const subject = { instruments: ["any"], roles: {} };
      const failing = Object.values(contexts.factories).filter((one) => {
        const error = errorIn(() => attempt(context, contexts, groupOf(factory), one, subject));
        return error !== undefined && causesOf(error).some(({ code }) => code === "configuration-missing");
      });
      if (failing.length === 0) return [];
      const message = `registrar ${registrar} has an AllocationFactory, but no InstrumentConfiguration`;
      return warningOf(
        { code: "configuration-missing", registrar, message },
        {
          operations: [...failing.map(({ operation }) => operation), "instrument-configuration"],
          refusal: "not-found",
        },
      );
    }),
});

const isFirst = ({ contractId }: Contract, [first]: readonly Contract[]): boolean => first?.contractId === contractId;

/**
 * Instruments for which an operation cannot be answered for any party, or not for certain. The newest configuration of an
 * instrument in each group is checked: the others are not used.
 */
export const checkInstruments = (contexts: UtilityContexts): Check<ConfigurationFields> => ({
  template: instrumentConfiguration,
  warnings: (context, configurations) =>
    configurations.flatMap((configuration) => {
      const { registrar, defaultIdentifier } = configuration.fields;
      const group = groupOf(configuration);
      const candidates = candidateConfigurations(context.view, registrar, defaultIdentifier.id);
      if (!isFirst(configuration, ofGroup(candidates, group))) return [];
      return [
        ...checkInstrument(context, contexts, group, defaultIdentifier),
        ...(isFirst(configuration, candidates) ? checkGroups(contexts, candidates) : []),
        ...checkIdentifiers(context, configuration),
      ];
    }),
});

/** Whether several groups have the instrument. Then its name alone does not say whose factory a request needs. */
function checkGroups({ factories }: UtilityContexts, candidates: readonly Configuration[]): readonly Warning[] {
  const [answering, ...others] = distinctGroups(candidates);
  const [newest] = candidates;
  if (newest === undefined || answering === undefined || others.length === 0) return [];
  const { registrar, defaultIdentifier } = newest.fields;
  const named = others.slice(0, MAX_NAMED).map(nameOf).join(", ");
  const more = others.length > MAX_NAMED ? `, and ${others.length - MAX_NAMED} more` : "";
  const about = { registrar, instrument: defaultIdentifier.id, contractId: newest.contractId };
  // The allocations of a settlement name their group.
  const operations = Object.keys(factories).filter((operation) => operation !== "settlement-factory");
  return [
    warningOf(
      {
        ...about,
        code: "shared-instrument",
        message:
          `${others.length + 1} groups have instrument "${defaultIdentifier.id}" of registrar ${registrar}. Where the input ` +
          `holdings of a request cannot be read, or there are none, ${nameOf(answering)} answers, which has the newest ` +
          `configuration; the ledger refuses the answer for ${named}${more}`,
      },
      { operations },
    ),
  ];
}

const nameOf = ({ operator, provider }: Group): string => `(operator ${operator}, provider ${provider})`;

/** Additional identifiers that find another instrument: its default identifier, or an additional one of a newer configuration. */
function checkIdentifiers({ view }: CheckContext, configuration: Configuration): readonly Warning[] {
  const { registrar, defaultIdentifier, additionalIdentifiers } = configuration.fields;
  const ids = new Set(additionalIdentifiers.slice(0, MAX_IDENTIFIERS).map((one) => one.id));
  ids.delete(defaultIdentifier.id);
  return [...ids].flatMap((id): Warning[] => {
    const [byDefault] = candidateConfigurations(view, registrar, id);
    const [byAdditional] = view.byKey(instrumentConfiguration, indexKeys.additionalIdentifier(registrar, id));
    const found = (byDefault ?? byAdditional)?.fields.defaultIdentifier.id;
    if (found === undefined || found === defaultIdentifier.id) return [];
    const why = byDefault === undefined ? "which lists it too, in a newer configuration" : "whose own id it is";
    const { contractId } = configuration;
    return [
      warningOf(
        {
          code: "ambiguous-identifier",
          registrar,
          instrument: defaultIdentifier.id,
          contractId,
          message:
            `the additional identifier "${id}" of instrument "${defaultIdentifier.id}" of registrar ${registrar} finds ` +
            `instrument "${found}", ${why}`,
        },
        { operations: ["metadata", "instrument-configuration"] },
      ),
    ];
  });
}
