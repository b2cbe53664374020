import type { ContractLookup } from "../../../store/port.js";
import { credentialLookups, selectCredentials } from "../selection/credentials.js";
import { instrumentConfigurationLookup } from "../selection/group.js";
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
