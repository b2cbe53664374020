import type { UtilityExtension } from "./contexts/extension.js";

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
