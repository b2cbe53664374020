import type { Registry } from "../sdk/registry.js";
import { type UtilityContexts, compileContexts } from "./contexts/contexts.js";
import { createChecks, inventory } from "./inventory/index.js";
import { createLookup } from "./lookup/index.js";
import { allocationFactory } from "./operations/allocation-factory.js";
import { allocationInstruction } from "./operations/allocation-instruction.js";
import { choiceContext } from "./operations/choice-context.js";
import { instrumentConfiguration, instrumentConfigurations } from "./operations/instrument-configuration.js";
import { instruments, totalSupply } from "./operations/instruments.js";
import { burnMintFactory, issuanceFactory } from "./operations/issuance.js";
import { operator } from "./operations/operator.js";
import { settlementFactory } from "./operations/settlement-factory.js";
import type { SettlementLimits } from "./operations/settlement-limits.js";
import { transferFactory } from "./operations/transfer-factory.js";
import { holding } from "./templates/holding.js";
import { transferProof } from "./proof/proof.js";
import { SUPPORTED_APIS, supportedApisOf } from "./supported-apis.js";

export interface UtilityOptions {
  readonly settlementLimits: SettlementLimits;
  /** Whether a settlement with an allocation that was never seen is refused. By default it is left out of the context. */
  readonly rejectsUnknownAllocations?: boolean;
  /** The contexts in force; by default those of contexts.yaml. */
  readonly contexts?: UtilityContexts;
}

/** The Registry Utility for the Canton Network. */
export function utilityRegistry({
  settlementLimits,
  rejectsUnknownAllocations = false,
  contexts = compileContexts(),
}: UtilityOptions): Registry {
  const checks = createChecks(contexts);
  return {
    name: "Registry Utility",
    templates: contexts.templates,
    holding,
    supportedApis: SUPPORTED_APIS,
    learnPackages: (versions) => contexts.packageVersions.learn(versions),
    supportedApisOf: supportedApisOf(contexts.packageVersions),
    instruments,
    transferFactory: (context, query) => transferFactory(context, query, contexts),
    allocationFactory: (context, query) => allocationFactory(context, query, contexts, settlementLimits),
    settlementFactory: (context, query) =>
      settlementFactory(context, query, contexts, settlementLimits, rejectsUnknownAllocations),
    choiceContext(context, choice, query) {
      if (choice === "allocation-instruction/accept" || choice === "allocation-instruction/withdraw") {
        return allocationInstruction(context, query);
      }
      return choiceContext(context, contexts.choices[choice], query);
    },
    inventory: (view, options) => inventory(view, contexts, checks, options),
    checks,
    lookup: createLookup(contexts),
    totalSupply,
    utility: {
      operator,
      instrumentConfiguration,
      instrumentConfigurations,
      issuanceFactory: (context, instruction, query) => issuanceFactory(context, instruction, query, contexts),
      burnMintFactory: (context, query) => burnMintFactory(context, query, contexts),
      issuanceContext: (context, choice, query) => choiceContext(context, contexts.choices[choice], query),
      transferProof,
    },
  };
}
