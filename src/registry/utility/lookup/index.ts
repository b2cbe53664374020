/** What operators look up in the Registry Utility. */
import type { RegistryLookup } from "../../sdk/registry.js";
import type { UtilityContexts } from "../contexts/contexts.js";
import { linesByOperation } from "../inventory/operation-lines.js";
import { choicesOn } from "./choices.js";
import { findInstructions } from "./find-instructions.js";
import { findCredentials, findPreapprovals } from "./find-party.js";
import { registrars } from "./registrars.js";

export function createLookup(contexts: UtilityContexts): RegistryLookup {
  return {
    registrars,
    partySearches: [findCredentials, findPreapprovals, ...findInstructions(contexts, linesByOperation(contexts))],
    choices: (contract) => choicesOn(contexts, contract),
    packageVersion: (packageId) => contexts.packageVersions.versionOf(packageId),
  };
}
