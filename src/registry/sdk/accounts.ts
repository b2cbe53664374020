/** Accounts, as version 2 of the token standard defines them. */
import { invalid } from "../../domain/errors.js";
import type { JsonReader } from "./json-reader.js";

export interface Account {
  readonly owner: string | undefined;
  readonly provider: string | undefined;
  readonly id: string;
  /** The party of the account: its owner, else its provider. */
  readonly party: string;
}

/** Reads an account. Throws "invalid" if it has neither owner nor provider. */
export function accountOf(fields: JsonReader): Account {
  const owner = fields.optionalId("owner");
  const provider = fields.optionalId("provider");
  const party = owner ?? provider;
  if (party === undefined)
    throw invalid(`${fields.path("owner")} is missing, and so is the provider: an account needs one of them`);
  return { owner, provider, id: fields.raw("id") === undefined ? "" : fields.text("id"), party };
}

/** The party in a field that is a party in version 1 of the standard and an account in version 2. */
export function partyOf(fields: JsonReader, name: string): string {
  return typeof fields.raw(name) === "string" ? fields.id(name) : accountOf(fields.object(name)).party;
}
