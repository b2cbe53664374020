/** Entries that the operator defines in the contexts file, as data. */

export interface EntryDefinition {
  /** What lines of the table call it. */
  readonly name: string;
  readonly template: { readonly package: string; readonly name: string };
  /** A contract is found if all of its fields have these values. At least one. */
  readonly find: readonly FieldMatch[];
  readonly value: ValueForm;
}

export interface FieldMatch {
  /** The path of a field of type text or party in the contract's payload, such as `details.registrar`. */
  readonly field: string;
  readonly is: RequestValue;
  /** Compares only this many characters of the request's value; undefined compares all of it. */
  readonly prefix: number | undefined;
}

/** `holder`: each holder of a mint, burn or settlement. `party`: each of sender, receiver and holders. */
export const requestValues = ["registrar", "provider", "instrument", "sender", "receiver", "holder", "party"] as const;
export type RequestValue = (typeof requestValues)[number];

/**
 * `contract-id`: the newest contract. `list`: the newest contract for each value of the request, each once.
 * `map-by-party`: the newest contract for each party.
 */
export const valueForms = ["contract-id", "list", "map-by-party"] as const;
export type ValueForm = (typeof valueForms)[number];

/** Whether a request may have several parties as this value. */
export const isPerParty = (value: RequestValue): boolean => value === "holder" || value === "party";

/** Whether the value is a party other than the registrar and the provider. */
export const isParty = (value: RequestValue): boolean =>
  isPerParty(value) || value === "sender" || value === "receiver";
