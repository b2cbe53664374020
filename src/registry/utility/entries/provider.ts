import type { ContractLookup, View } from "../../../store/port.js";
import {
  candidateConfigurations,
  type ContractSelector,
  instrumentConfigurationLookup,
} from "../selection/contract-selector.js";
import type { EntryInputs, PrefetchInputs } from "./context-entry.js";

/** The provider of the request: of the factory or the instruction, else of the first instrument's configuration. */
export function selectProvider(selector: ContractSelector, { provider, instruments }: EntryInputs): string | undefined {
  if (provider !== undefined) return provider;
  const instrument = instruments[0];
  return instrument === undefined ? undefined : selector.configuration(instrument, false)?.fields.provider;
}

/** The lookups that `candidateProviders` reads. */
export function* providerLookups({
  registrar,
  instruments,
  provider,
  providers,
}: PrefetchInputs): Generator<ContractLookup> {
  if (provider === undefined && providers === undefined)
    for (const id of instruments) yield instrumentConfigurationLookup(registrar, id);
}

/** Every provider that `selectProvider` may return. */
export function candidateProviders(inputs: PrefetchInputs, view: View): Iterable<string> {
  const { registrar, instruments, provider, providers } = inputs;
  if (providers !== undefined) return providers;
  if (provider !== undefined) return [provider];
  return instruments.flatMap((id) => candidateConfigurations(view, registrar, id)).map(({ fields }) => fields.provider);
}
