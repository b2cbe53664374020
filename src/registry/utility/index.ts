import type { Registry } from "../registry.js";
import { inventory } from "./inventory.js";
import { kinds } from "./kinds/index.js";
import { allocationFactory } from "./operations/allocation-factory.js";
import { allocationInstruction } from "./operations/allocation-instruction.js";
import { choiceContext } from "./operations/choice-context.js";
import { choices, issuanceChoices } from "./operations/choice-rules.js";
import { instrumentConfiguration, instrumentConfigurations } from "./operations/instrument-configuration.js";
import { instruments, totalSupply } from "./operations/instruments.js";
import { burnMintFactory, issuanceFactory } from "./operations/issuance.js";
import { operator } from "./operations/operator.js";
import { settlementFactory } from "./operations/settlement-factory.js";
import type { SettlementLimits } from "./operations/settlement-limits.js";
import { transferFactory } from "./operations/transfer-factory.js";
import { transferProof } from "./proof/proof.js";

export interface UtilityOptions {
  readonly settlementLimits: SettlementLimits;
}

/** The Registry Utility for the Canton Network. */
export function utilityRegistry({ settlementLimits }: UtilityOptions): Registry {
  return {
    name: "Registry Utility",
    kinds,
    supportedApis: {
      "splice-api-token-metadata-v1": 1,
      "splice-api-token-transfer-instruction-v1": 1,
      "splice-api-token-transfer-instruction-v2": 1,
      "splice-api-token-allocation-v1": 1,
      "splice-api-token-allocation-v2": 1,
      "splice-api-token-allocation-instruction-v1": 1,
      "splice-api-token-allocation-instruction-v2": 1,
    },
    instruments,
    transferFactory,
    allocationFactory: (scene, question) => allocationFactory(scene, question, settlementLimits),
    settlementFactory: (scene, question) => settlementFactory(scene, question, settlementLimits),
    choiceContext(scene, choice, question) {
      if (choice === "allocation-instruction/accept" || choice === "allocation-instruction/withdraw") {
        return allocationInstruction(scene, question);
      }
      return choiceContext(scene, choices[choice], question);
    },
    inventory,
    totalSupply,
    utility: {
      operator,
      instrumentConfiguration,
      instrumentConfigurations,
      issuanceFactory,
      burnMintFactory,
      issuanceContext: (scene, choice, question) => choiceContext(scene, issuanceChoices[choice], question),
      transferProof,
    },
  };
}
