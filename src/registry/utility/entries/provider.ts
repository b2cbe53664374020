import type { ContractLookup, View } from "../../../store/port.js";
import type { ContractSelector } from "../selection/contract-selector.js";
import { candidateConfigurations, instrumentConfigurationLookup } from "../selection/group.js";
import type { EntryInputs, PrefetchInputs } from "./context-entry.js";

/** The provider of the request: that of its group, else of the first instrument's configuration. */
export function selectProvider(selector: ContractSelector, { provider, instruments }: EntryInputs): string | undefined {
  if (provider !== undefined) return provider;
  const instrument = instruments[0];
  return instrument === undefined ? undefined : selector.configuration(instrument, false)?.fields.provider;
}

/** The lookups that `candidateProviders` reads. */
export function* providerLookups({ registrar, instruments, provider }: PrefetchInputs): Generator<ContractLookup> {
  if (provider === undefined) for (const id of instruments) yield instrumentConfigurationLookup(registrar, id);
}

/** Every provider that `selectProvider` may return. */
export function candidateProviders({ registrar, instruments, provider }: PrefetchInputs, view: View): Iterable<string> {
  if (provider !== undefined) return [provider];
  return instruments.flatMap((id) => candidateConfigurations(view, registrar, id)).map(({ fields }) => fields.provider);
}
