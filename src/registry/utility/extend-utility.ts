import type { UtilityExtension } from "./contexts/extension.js";

/** What a module that extends the Registry Utility exports as its default. */
export interface ExtendedUtility {
  readonly utilityExtension: UtilityExtension;
}

/**
 * Extends the Registry Utility with templates, entries and changes of its operations, for what the contexts file cannot
 * say. OFFLEDGER_REGISTRY names the module. The service reports a problem of the extension when it starts.
 */
export const extendUtility = (extension: UtilityExtension): ExtendedUtility => ({ utilityExtension: extension });
