import type { Registry } from "../sdk/registry.js";
import { inventory } from "./inventory.js";
import { templates } from "./templates/index.js";
import { allocationFactory } from "./operations/allocation-factory.js";
import { allocationInstruction } from "./operations/allocation-instruction.js";
import { choiceContext } from "./operations/choice-context.js";
import { choiceContexts } from "./choice-contexts.js";
import { instrumentConfiguration, instrumentConfigurations } from "./operations/instrument-configuration.js";
import { instruments, totalSupply } from "./operations/instruments.js";
import { burnMintFactory, issuanceFactory } from "./operations/issuance.js";
import { operator } from "./operations/operator.js";
import { settlementFactory } from "./operations/settlement-factory.js";
import type { SettlementLimits } from "./operations/settlement-limits.js";
import { transferFactory } from "./operations/transfer-factory.js";
import { transferProof } from "./proof/proof.js";
import { type PackageVersions, SUPPORTED_APIS, supportedApisOf } from "./supported-apis.js";

export interface UtilityOptions {
  readonly settlementLimits: SettlementLimits;
  /** Empty by default: every package counts as current. */
  readonly packageVersions?: PackageVersions;
}

/** The Registry Utility for the Canton Network. */
export function utilityRegistry({ settlementLimits, packageVersions = new Map() }: UtilityOptions): Registry {
  return {
    name: "Registry Utility",
    templates,
    supportedApis: SUPPORTED_APIS,
    supportedApisOf: supportedApisOf(packageVersions),
    instruments,
    transferFactory,
    allocationFactory: (context, query) => allocationFactory(context, query, settlementLimits),
    settlementFactory: (context, query) => settlementFactory(context, query, settlementLimits),
    choiceContext(context, choice, query) {
      if (choice === "allocation-instruction/accept" || choice === "allocation-instruction/withdraw") {
        return allocationInstruction(context, query);
      }
      return choiceContext(context, choiceContexts[choice], query);
    },
    inventory,
    totalSupply,
    utility: {
      operator,
      instrumentConfiguration,
      instrumentConfigurations,
      issuanceFactory,
      burnMintFactory,
      issuanceContext: (context, choice, query) => choiceContext(context, choiceContexts[choice], query),
      transferProof,
    },
  };
}
