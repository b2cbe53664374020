import type { Contract } from "../../../../domain/contract.js";
import type { View } from "../../../../store/port.js";
import type { Check, InstrumentConfiguration, Warning } from "../../../sdk/registry.js";
import { factoriesLookup } from "../../operations/require.js";
import { candidateConfigurations, instrumentConfigurationLookup } from "../../selection/contract-selector.js";
import { instrumentConfiguration } from "../../templates/instruments.js";
import { checkChoices } from "./choices.js";
import { checkConfigurationLookup } from "./configuration-lookup.js";
import { checkFactories } from "./factories.js";
import { prefetchInstrument } from "../prefetch.js";
import type { LinesByOperation } from "../operation-lines.js";
import { prefetchAll, recording, type RecordingContext } from "../views.js";

/** Instruments for which an operation cannot be answered for any party. */
export const checkInstruments = (lines: LinesByOperation): Check<InstrumentConfiguration> => ({
  template: instrumentConfiguration,
  warnings(context, configurations) {
    prefetch(context.view, lines, configurations);
    const checked = recording(context);
    return configurations.flatMap((configuration) =>
      instrumentIds(context.view, configuration).flatMap((id) => ofInstrument(checked, lines, configuration, id)),
    );
  },
});

function ofInstrument(
  context: RecordingContext,
  lines: LinesByOperation,
  { fields: { registrar, defaultIdentifier } }: Contract<InstrumentConfiguration>,
  id: string,
): Warning[] {
  return [
    ...checkFactories(context, lines, registrar, id),
    ...checkChoices(context, lines, registrar, id),
    ...(id === defaultIdentifier.id ? checkConfigurationLookup(context, registrar, defaultIdentifier) : []),
  ];
}

/**
 * The ids under which this configuration is the newest. Of ids with the same configurations only the default one: what
 * fails for one of them fails for all.
 */
function instrumentIds(view: View, configuration: Contract<InstrumentConfiguration>): readonly string[] {
  const { registrar, defaultIdentifier, additionalIdentifiers } = configuration.fields;
  const idsOf = (id: string) => candidateConfigurations(view, registrar, id).map(({ contractId }) => contractId);
  const ofDefault = idsOf(defaultIdentifier.id).join(" ");
  const others = additionalIdentifiers.filter(({ id }) => idsOf(id).join(" ") !== ofDefault).map(({ id }) => id);
  return [...new Set([defaultIdentifier.id, ...others])].filter((id) => idsOf(id)[0] === configuration.contractId);
}

function prefetch(
  view: View,
  lines: LinesByOperation,
  configurations: readonly Contract<InstrumentConfiguration>[],
): void {
  if (!view.wantsPrefetch) return;
  const requests = configurations.flatMap(({ fields: { registrar, defaultIdentifier, additionalIdentifiers } }) =>
    [defaultIdentifier, ...additionalIdentifiers].map(({ id }) => ({ registrar, instrument: id })),
  );
  view.prefetch(() =>
    requests.flatMap(({ registrar, instrument }) => [
      factoriesLookup(registrar),
      instrumentConfigurationLookup(registrar, instrument),
    ]),
  );
  for (const phase of ["inputs", "configurations"] as const)
    prefetchAll(view, requests, (collecting, request) => prefetchInstrument(collecting, lines, request, phase));
}
