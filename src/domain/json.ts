/** JSON, as the ledger and callers send it. */
/**
 * The contracts of a ledger as the rules ask for them. What reads them
 * (registry) and what writes them (ledger) meet only here, and every store owes
 * what this file says: see test/store for the promises as cases.
 */
export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;

export interface JsonObject {
  [key: string]: JsonValue;
}
