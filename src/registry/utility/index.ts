import type { Registry } from "../registry.js";
import { inventory } from "./inventory.js";
import { kinds } from "./kinds/index.js";
import { choiceContext } from "./operations/choice-context.js";
import { instrumentConfiguration } from "./operations/instrument-configuration.js";
import { settlementFactory } from "./operations/settlement-factory.js";
import type { SettlementLimits } from "./operations/settlement-limits.js";
import { transferFactory } from "./operations/transfer-factory.js";

export interface UtilityOptions {
  readonly settlementLimits: SettlementLimits;
}

/** The Registry Utility for the Canton Network. */
export function utilityRegistry({ settlementLimits }: UtilityOptions): Registry {
  return {
    name: "Registry Utility",
    kinds,
    transferFactory,
    settlementFactory: (scene, question) => settlementFactory(scene, question, settlementLimits),
    choiceContext,
    instrumentConfiguration,
    inventory,
  };
}
