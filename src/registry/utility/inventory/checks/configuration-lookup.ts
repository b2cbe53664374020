import { RegistryError } from "../../../../domain/errors.js";
import type { CheckContext, InstrumentIdentifier, Warning } from "../../../sdk/registry.js";
import { instrumentConfiguration } from "../../operations/instrument-configuration.js";
import { candidateConfigurations } from "../../selection/group.js";
import { remedies } from "../remedies.js";

/** Whether the configuration of an instrument can be looked up: not while it is in reassignment. */
export function checkConfigurationLookup(
  context: CheckContext,
  registrar: string,
  identifier: InstrumentIdentifier,
): Warning[] {
  try {
    instrumentConfiguration(context, { registrar, identifier });
    return [];
  } catch (error) {
    if (!(error instanceof RegistryError)) throw error;
    const [newest] = candidateConfigurations(context.view, registrar, identifier.id);
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
}
