import type { ContractSelector } from "../selection/contract-selector.js";
import type { EntryInputs } from "./context-entry.js";

/** The provider of the request: that of its group, else of the first instrument's configuration. */
export function selectProvider(selector: ContractSelector, { provider, instruments }: EntryInputs): string | undefined {
  if (provider !== undefined) return provider;
  const instrument = instruments[0];
  return instrument === undefined ? undefined : selector.configuration(instrument, false)?.fields.provider;
}
