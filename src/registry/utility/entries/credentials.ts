import type { ContractLookup, View } from "../../../store/port.js";
import { indexKeys } from "../templates/index-keys.js";
import { instrumentConfiguration } from "../templates/instruments.js";
import { credential } from "../templates/parties.js";
import { selectCredentials } from "../selection/credential-selector.js";
import { requirementsFor, type Role } from "../selection/requirements.js";
import { entryKey } from "./choice-context-builder.js";
import type { ContextEntry, EntryInputs } from "./context-entry.js";

/** The sender's credentials for the instruments that it gives away. */
export const senderCredentialsEntry: ContextEntry = {
  key: entryKey("sender-credentials"),
  *prefetchByConfiguration(inputs, view) {
    const { registrar, sender } = inputs;
    if (sender !== undefined) yield* credentialLookups(view, registrar, sender, "holder", sentInstruments(inputs));
  },
  value(builder, selector, inputs) {
    const { sender } = inputs;
    const chosen = sender === undefined ? [] : selectCredentials(selector, sender, "holder", sentInstruments(inputs));
    return builder.referenceAll(chosen);
  },
};

export const receiverCredentialsEntry: ContextEntry = {
  key: entryKey("receiver-credentials"),
  *prefetchByConfiguration({ registrar, receiver, instruments }, view) {
    if (receiver !== undefined) yield* credentialLookups(view, registrar, receiver, "holder", instruments);
  },
  value(builder, selector, { receiver, instruments }) {
    const chosen = receiver === undefined ? [] : selectCredentials(selector, receiver, "holder", instruments);
    return builder.referenceAll(chosen);
  },
};

/** The credentials of all parties whose holdings are minted or burned, in one list. */
export const issuerCredentialsEntry: ContextEntry = {
  key: entryKey("issuer-credentials"),
  *prefetchByConfiguration({ registrar, issuers = [], instruments }, view) {
    for (const party of issuers) yield* credentialLookups(view, registrar, party, "issuer", instruments);
  },
  value(builder, selector, { issuers = [], instruments }) {
    const chosen = issuers.flatMap((party) => selectCredentials(selector, party, "issuer", instruments));
    return builder.referenceAll(chosen);
  },
};

/** The credentials of each account party of a settlement, by party. */
export const holderCredentialsEntry: ContextEntry = {
  key: entryKey("holder-credentials"),
  *prefetchByConfiguration({ registrar, holders = [] }, view) {
    for (const { party, instruments } of holders)
      yield* credentialLookups(view, registrar, party, "holder", instruments);
  },
  value(builder, selector, { holders = [] }) {
    const byParty = holders.map(({ party, instruments }) => ({
      name: party,
      value: builder.referenceAll(selectCredentials(selector, party, "holder", instruments)),
    }));
    return { tag: "AV_Map", value: byParty };
  },
};

const sentInstruments = ({ sent, instruments }: EntryInputs): readonly string[] => sent ?? instruments;

/** The party's credentials from every issuer that any candidate configuration names. */
function* credentialLookups(
  view: View,
  registrar: string,
  party: string,
  role: Role,
  instruments: readonly string[],
): Generator<ContractLookup> {
  for (const id of instruments) {
    for (const { fields } of view.byKey(instrumentConfiguration, indexKeys.instrument(registrar, id))) {
      for (const { issuer } of requirementsFor(role, fields))
        yield { template: credential, indexKey: indexKeys.credential(party, issuer) };
    }
  }
}
