import type { View } from "../../state/port.js";
import { roleOf } from "../engine/templates.js";
import { tokenStandardApis } from "../sdk/apis.js";
import type {
  Check,
  ChoiceQuery,
  ContextResult,
  Inventory,
  Registry,
  RequestContext,
  SupportedApis,
} from "../sdk/registry.js";
import * as allocation from "./allocation.js";
import { distinctTemplates } from "../engine/lookup.js";
import { answerChoice, type ChoiceDefinition } from "../engine/operations.js";
import { compileContexts, type UtilityContexts, type UtilityExtension } from "./contexts.js";
import { groupOf, holdingsToRead, isKnownToHaveVersion2, notePaused, requireFactories } from "./factory.js";
import type { PackageVersions } from "../engine/versions.js";
import {
  createLookup,
  findConfiguration,
  instruments,
  listConfigurations,
  operator,
  totalSupply,
} from "./instruments.js";
import { checkCredentials } from "./check-credentials.js";
import { checkInstruments, checkRegistrars } from "./check-relations.js";
import { checkInstructions } from "./checks.js";
import { burnMintFactory, issuanceFactory } from "./issuance.js";
import { transferProof } from "./proof.js";
import { allocationFactory, holding, instrumentConfiguration } from "./templates.js";
import { transferFactory } from "./transfer.js";

export interface UtilityOptions {
  readonly settlementLimits: allocation.SettlementLimits;
  /** Whether a settlement with an allocation that was never seen is refused. By default it is left out of the context. */
  readonly rejectsUnknownAllocations?: boolean;
  /** The contexts in force; by default those of utility.yaml. */
  readonly contexts?: UtilityContexts;
}

/** The Registry Utility for the Canton Network. */
export function utilityRegistry({
  settlementLimits,
  rejectsUnknownAllocations = false,
  contexts = compileContexts(),
}: UtilityOptions): Registry {
  return {
    name: "Registry Utility",
    templates: contexts.templates,
    readById: { templates: [holding], contractIds: holdingsToRead },
    supportedApis: ALL_APIS,
    learnPackages: (versions) => contexts.packageVersions.learn(versions),
    supportedApisOf: supportedApisOf(contexts.packageVersions),
    instruments,
    transferFactory: (context, query) => transferFactory(context, query, contexts),
    allocationFactory: (context, query) => allocation.allocationFactory(context, query, contexts, settlementLimits),
    settlementFactory: (context, query) =>
      allocation.settlementFactory(context, query, contexts, settlementLimits, rejectsUnknownAllocations),
    choiceContext(context, choice, query) {
      const definition = contexts.choices[choice];
      if (choice.startsWith("allocation-instruction/")) allocation.requirePending(context, definition, query);
      return choiceContext(context, definition, query);
    },
    inventory: (view) => inventory(view, contexts),
    checks: createChecks(contexts),
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

function choiceContext(context: RequestContext, definition: ChoiceDefinition, query: ChoiceQuery): ContextResult {
  const { recorder, view } = context;
  if (recorder !== undefined)
    for (const template of definition.templates) {
      const fields = view.byId(template, query.contractId)?.fields;
      if (fields !== undefined) notePaused(context, fields.registrar ?? "", fields.instruments);
    }
  return answerChoice(context, definition, query, groupOf, (registrar) => void requireFactories(view, registrar));
}

/** The checks of a registry with these contexts. */
function createChecks(contexts: UtilityContexts): readonly Check[] {
  const templates = distinctTemplates(Object.values(contexts.choices));
  return [
    checkRegistrars(contexts),
    checkInstruments(contexts),
    ...templates.map((template) => checkInstructions(template, contexts)),
    checkCredentials(contexts),
  ];
}

/** Lists the registrars and the contract counts. */
function inventory(view: View, { templates }: UtilityContexts): Inventory {
  const configurations = view.all(instrumentConfiguration);
  const factories = view.all(allocationFactory);
  const served = [...new Set(factories.flatMap(({ fields }) => fields.registrar ?? []))].toSorted();
  const stored = view.templateCounts();
  const counts = templates.map((template) => ({
    qualifiedName: template.qualifiedName,
    count: stored.filter((row) => row.template === template).reduce((sum, { count }) => sum + count, 0),
  }));
  const operators = [...factories, ...configurations].flatMap(({ fields }) => roleOf(fields, "operator") ?? []);
  return {
    registrars: served.map((party) => ({
      party,
      instruments: configurations
        .filter(({ fields }) => fields.registrar === party)
        .map(({ fields }) => fields.defaultIdentifier)
        .toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    })),
    counts: counts.filter(({ count }) => count > 0),
    operators: [...new Set(operators)].toSorted(),
  };
}

const ALL_APIS = tokenStandardApis("v1", "v2");
const V1_APIS = tokenStandardApis("v1");

/** Without version 2 if no factory of the registrar, in any group, is known to have it. Throws "not-found" if there are none. */
const supportedApisOf =
  (versions: PackageVersions) =>
  ({ view }: RequestContext, registrar: string): SupportedApis =>
    requireFactories(view, registrar).some((factory) => isKnownToHaveVersion2(factory, versions)) ? ALL_APIS : V1_APIS;

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
