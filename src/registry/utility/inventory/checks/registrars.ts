import type { Contract } from "../../../../domain/contract.js";
import type { ContractLookup, View } from "../../../../store/port.js";
import type { Check, CheckContext, Warning } from "../../../sdk/registry.js";
import { factoriesLookup } from "../../operations/require.js";
import { groupOf } from "../../selection/group.js";
import { indexKeys } from "../../templates/index-keys.js";
import { instrumentConfiguration } from "../../templates/instruments.js";
import { type AllocationFactory, allocationFactory } from "../../templates/services.js";
import { attemptWithFactories, factoryInputs } from "../factory-attempts.js";
import { findProblems } from "../find-problems.js";
import type { LinesByOperation } from "../operation-lines.js";
import { remedies } from "../remedies.js";
import { recording } from "../views.js";

/** Registrars that have a factory, but no instrument. */
export const checkRegistrars = (lines: LinesByOperation): Check<AllocationFactory> => ({
  template: allocationFactory,
  warnings(context, factories) {
    context.view.prefetch(() => factories.flatMap(lookupsOf));
    return factories
      .filter((factory) => isNewest(context.view, factory))
      .flatMap((one) => ofRegistrar(context, lines, one));
  },
});

const lookupsOf = ({ fields: { registrar } }: Contract<AllocationFactory>): ContractLookup[] => [
  factoriesLookup(registrar),
  { template: instrumentConfiguration, indexKey: indexKeys.instruments(registrar) },
];

const isNewest = (view: View, { contractId, fields }: Contract<AllocationFactory>): boolean =>
  view.byKey(allocationFactory, indexKeys.factory(fields.registrar))[0]?.contractId === contractId;

function ofRegistrar(
  context: CheckContext,
  { factories: operations }: LinesByOperation,
  factory: Contract<AllocationFactory>,
): Warning[] {
  const { registrar } = factory.fields;
  if (context.view.byKey(instrumentConfiguration, indexKeys.instruments(registrar)).length > 0) return [];
  const checked = recording(context);
  const attempt = attemptWithFactories(checked, groupOf(factory), [factory]);
  // Any id will do: there is no instrument.
  const failing = [...operations.values()].filter((lines) =>
    findProblems(lines, checked.view, factoryInputs("any"), attempt).some(
      ({ line, refusal }) => line?.startsWith("instrument-configuration") === true && refusal === "not-found",
    ),
  );
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
