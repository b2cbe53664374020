import { formatValue, invalidField } from "./errors.js";

/** Whether a text has the form of a party id: Daml's `hint::fingerprint`. */
export const isPartyId = (text: string): boolean => /^[^:].*?::[^:]/s.test(text);

/** Throws "invalid" for a text that is no party id: that nothing is known of it would mislead. */
export function expectPartyId(field: string, text: string): void {
  if (!isPartyId(text)) throw invalidField(field, `is ${formatValue(text)}: a party id is hint::fingerprint`);
}
