import type { Registry, RequestContext, SupportedApis } from "../sdk/registry.js";
import { allocationFactory, allocationInstruction, settlementFactory, type SettlementLimits } from "./allocation.js";
import { choiceContext, requireFactories } from "./choice.js";
import { compileContexts, type UtilityContexts, type UtilityExtension } from "./contexts/contexts.js";
import type { PackageVersions } from "./contexts/versions.js";
import { hasVersion2 } from "./factory.js";
import { findConfiguration, listConfigurations, instruments, operator, totalSupply } from "./instruments.js";
import { createChecks, inventory } from "./inventory/inventory.js";
import { burnMintFactory, issuanceFactory } from "./issuance.js";
import { createLookup } from "./lookup.js";
import { transferProof } from "./proof.js";
import { holding } from "./templates.js";
import { transferFactory } from "./transfer.js";

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
      instrumentConfiguration: findConfiguration,
      instrumentConfigurations: listConfigurations,
      issuanceFactory: (context, instruction, query) => issuanceFactory(context, instruction, query, contexts),
      burnMintFactory: (context, query) => burnMintFactory(context, query, contexts),
      issuanceContext: (context, choice, query) => choiceContext(context, contexts.choices[choice], query),
      transferProof,
    },
  };
}

/** The minor versions are those of the published documents. holding, allocation-request and transfer-events have no HTTP side. */
const SUPPORTED_APIS: SupportedApis = {
  "splice-api-token-metadata-v1": 2,
  "splice-api-token-holding-v1": 1,
  "splice-api-token-holding-v2": 1,
  "splice-api-token-transfer-instruction-v1": 1,
  "splice-api-token-transfer-instruction-v2": 1,
  "splice-api-token-allocation-v1": 1,
  "splice-api-token-allocation-v2": 1,
  "splice-api-token-allocation-instruction-v1": 1,
  "splice-api-token-allocation-instruction-v2": 1,
  "splice-api-token-allocation-request-v1": 1,
  "splice-api-token-allocation-request-v2": 1,
  "splice-api-token-transfer-events-v2": 1,
};

const V1_APIS: SupportedApis = Object.fromEntries(
  Object.entries(SUPPORTED_APIS).filter(([name]) => !name.endsWith("-v2")),
);

/** Without version 2 if no factory of the registrar, in any group, has it. Throws "not-found" if there are none. */
export const supportedApisOf =
  (versions: PackageVersions) =>
  ({ view }: RequestContext, registrar: string): SupportedApis =>
    requireFactories(view, registrar).some((factory) => hasVersion2(factory, versions)) ? SUPPORTED_APIS : V1_APIS;

/** What a module that extends the Registry Utility exports as its default. Made by `extendUtility`. */
export interface ExtendedUtility {
  readonly utilityExtension: UtilityExtension;
}

/**
 * Extends the Registry Utility with templates, entries and changes of its operations, for what the contexts file cannot
 * say. OFFLEDGER_REGISTRY names the module, whose default export must be the result. Settings of the Registry Utility, such
 * as the limits on settlements, and the contexts file apply as without a module.
 */
export const extendUtility = (extension: UtilityExtension): ExtendedUtility => ({ utilityExtension: extension });
