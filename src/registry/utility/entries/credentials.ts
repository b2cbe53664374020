import { selectCredentials } from "../selection/credentials.js";
import type { ContextEntry } from "./context-entry.js";

/** The sender's credentials for the instruments that it gives away. */
export const senderCredentialsEntry: ContextEntry = {
  value(builder, selector, { sender, instruments, sent = instruments }, required) {
    const chosen = sender === undefined ? [] : selectCredentials(selector, sender, "holder", sent, required);
    return builder.referenceAll(chosen);
  },
};

export const receiverCredentialsEntry: ContextEntry = {
  value(builder, selector, { receiver, instruments }, required) {
    const chosen = receiver === undefined ? [] : selectCredentials(selector, receiver, "holder", instruments, required);
    return builder.referenceAll(chosen);
  },
};

/** The credentials of all parties whose holdings are minted or burned, in one list. */
export const issuerCredentialsEntry: ContextEntry = {
  value(builder, selector, { issuers = [], instruments }, required) {
    const chosen = issuers.flatMap((party) => selectCredentials(selector, party, "issuer", instruments, required));
    // One credential of an issuer may serve several parties.
    return builder.referenceAll(issuers.length > 1 ? [...new Set(chosen)] : chosen);
  },
};

/** The credentials of each account party of a settlement, by party. */
export const holderCredentialsEntry: ContextEntry = {
  value(builder, selector, { holders = [] }, required) {
    const byParty = holders.map(({ party, instruments }) => ({
      name: party,
      value: builder.referenceAll(selectCredentials(selector, party, "holder", instruments, required)),
    }));
    return { tag: "AV_Map", value: byParty };
  },
};
