import type { Contract } from "../../../../domain/contract.js";
import type { View } from "../../../../store/port.js";
import type { Check, InstrumentConfiguration, Warning } from "../../../sdk/registry.js";
import { factoriesLookup } from "../../operations/require.js";
import { candidateConfigurations, groupOf, instrumentConfigurationLookup, ofGroup } from "../../selection/group.js";
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
    return configurations
      .filter((configuration) => isNewest(context.view, configuration))
      .flatMap((configuration) => ofInstrument(checked, lines, configuration));
  },
});

function ofInstrument(
  context: RecordingContext,
  lines: LinesByOperation,
  configuration: Contract<InstrumentConfiguration>,
): Warning[] {
  const { registrar, defaultIdentifier } = configuration.fields;
  const group = groupOf(configuration);
  return [
    ...checkFactories(context, lines, group, defaultIdentifier.id),
    ...checkChoices(context, lines, group, defaultIdentifier.id),
    ...checkConfigurationLookup(context, registrar, defaultIdentifier),
  ];
}

/** Whether it is the newest of its instrument in its group: the others are not used. */
function isNewest(view: View, configuration: Contract<InstrumentConfiguration>): boolean {
  const { registrar, defaultIdentifier } = configuration.fields;
  const candidates = candidateConfigurations(view, registrar, defaultIdentifier.id);
  return ofGroup(candidates, groupOf(configuration))[0]?.contractId === configuration.contractId;
}

function prefetch(
  view: View,
  lines: LinesByOperation,
  configurations: readonly Contract<InstrumentConfiguration>[],
): void {
  if (!view.wantsPrefetch) return;
  const requests = configurations.map((one) => ({ group: groupOf(one), instrument: one.fields.defaultIdentifier.id }));
  view.prefetch(() =>
    requests.flatMap(({ group: { registrar }, instrument }) => [
      factoriesLookup(registrar),
      instrumentConfigurationLookup(registrar, instrument),
    ]),
  );
  for (const phase of ["inputs", "configurations"] as const)
    prefetchAll(view, requests, (collecting, request) => prefetchInstrument(collecting, lines, request, phase));
}
