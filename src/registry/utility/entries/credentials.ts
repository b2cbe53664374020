import type { ContractLookup, View } from "../../../store/port.js";
import { indexKeys } from "../templates/index-keys.js";
import { credential } from "../templates/parties.js";
import { candidateConfigurations, instrumentConfigurationLookup } from "../selection/contract-selector.js";
import { selectCredentials } from "../selection/credential-selector.js";
import { requirementsFor, type Role } from "../selection/requirements.js";
import type { ContextEntry, EntryInputs, PrefetchInputs } from "./context-entry.js";

/** The sender's credentials for the instruments that it gives away. */
export const senderCredentialsEntry: ContextEntry = {
  prefetch: configurationLookups,
  *prefetchByConfiguration(inputs, view) {
    const { registrar, sender } = inputs;
    if (sender !== undefined) yield* credentialLookups(view, registrar, sender, "holder", sentInstruments(inputs));
  },
  value(builder, selector, inputs, required) {
    const { sender } = inputs;
    const sent = sentInstruments(inputs);
    const chosen = sender === undefined ? [] : selectCredentials(selector, sender, "holder", sent, required);
    return builder.referenceAll(chosen);
  },
};

export const receiverCredentialsEntry: ContextEntry = {
  prefetch: configurationLookups,
  *prefetchByConfiguration({ registrar, receiver, instruments }, view) {
    if (receiver !== undefined) yield* credentialLookups(view, registrar, receiver, "holder", instruments);
  },
  value(builder, selector, { receiver, instruments }, required) {
    const chosen = receiver === undefined ? [] : selectCredentials(selector, receiver, "holder", instruments, required);
    return builder.referenceAll(chosen);
  },
};

/** The credentials of all parties whose holdings are minted or burned, in one list. */
export const issuerCredentialsEntry: ContextEntry = {
  prefetch: configurationLookups,
  *prefetchByConfiguration({ registrar, issuers = [], instruments }, view) {
    for (const party of issuers) yield* credentialLookups(view, registrar, party, "issuer", instruments);
  },
  value(builder, selector, { issuers = [], instruments }, required) {
    const chosen = issuers.flatMap((party) => selectCredentials(selector, party, "issuer", instruments, required));
    // One credential of an issuer may serve several parties.
    return builder.referenceAll(issuers.length > 1 ? [...new Set(chosen)] : chosen);
  },
};

/** The credentials of each account party of a settlement, by party. */
export const holderCredentialsEntry: ContextEntry = {
  prefetch: configurationLookups,
  *prefetchByConfiguration({ registrar, holders = [] }, view) {
    for (const { party, instruments } of holders)
      yield* credentialLookups(view, registrar, party, "holder", instruments);
  },
  value(builder, selector, { holders = [] }, required) {
    const byParty = holders.map(({ party, instruments }) => ({
      name: party,
      value: builder.referenceAll(selectCredentials(selector, party, "holder", instruments, required)),
    }));
    return { tag: "AV_Map", value: byParty };
  },
};

const sentInstruments = ({ sent, instruments }: EntryInputs): readonly string[] => sent ?? instruments;

/** The configurations, which have the requirements. */
function* configurationLookups({ registrar, instruments }: PrefetchInputs): Generator<ContractLookup> {
  for (const id of instruments) yield instrumentConfigurationLookup(registrar, id);
}

/** The party's credentials from every issuer that any candidate configuration names. */
function* credentialLookups(
  view: View,
  registrar: string,
  party: string,
  role: Role,
  instruments: readonly string[],
): Generator<ContractLookup> {
  for (const id of instruments) {
    for (const { fields } of candidateConfigurations(view, registrar, id)) {
      for (const { issuer } of requirementsFor(role, fields))
        yield { template: credential, indexKey: indexKeys.credential(issuer, party) };
    }
  }
}
