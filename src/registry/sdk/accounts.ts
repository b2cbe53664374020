/** Accounts, as version 2 of the token standard (CIP-0112) defines them. */
import { invalidField } from "../../domain/errors.js";
import type { JsonReader } from "./json-reader.js";

export interface Account {
  readonly owner: string | undefined;
  readonly provider: string | undefined;
  readonly id: string;
  /** The party of the account: its owner, else its provider; of a special account the instrument's admin. */
  readonly party: string;
  /** Whether it is the source of a mint or the target of a burn, which nobody holds. */
  readonly isSpecial: boolean;
}

/** Accounts without owner and provider: the source of a mint and the target of a burn. */
const SPECIAL_IDS = ["cip-112/mint", "cip-112/burn"];

/** The party that stands for a special account where version 1 of the standard has a party. */
export const NO_OWNER = "cip-112_no-owner::1220000000000000000000000000000000000000000000000000000000000000abcd";

/** Reads an account. Throws "invalid" if it has neither owner nor provider and is not special. */
export function accountOf(fields: JsonReader, admin: string): Account {
  const owner = fields.optionalId("owner");
  const provider = fields.optionalId("provider");
  const id = fields.raw("id") === undefined ? "" : fields.text("id");
  const party = owner ?? provider;
  if (party !== undefined) return { owner, provider, id, party, isSpecial: false };
  return specialAccount(id, admin, () => fields.path("owner"));
}

/**
 * The account in a field that is a party in version 1 of the standard and an account in version 2. In version 1 the `meta`
 * beside it may say provider and id of the account, for every owner.
 */
export function accountIn(fields: JsonReader, name: string, admin: string): Account {
  if (typeof fields.raw(name) !== "string") return accountOf(fields.object(name), admin);
  const named = fields.id(name);
  const owner = named === NO_OWNER ? undefined : named;
  const values = fields.optionalObject("meta")?.optionalObject("values");
  const textOf = (field: string): string | undefined =>
    values?.raw(`cip-112/${name}.${field}`) === undefined ? undefined : values.text(`cip-112/${name}.${field}`);
  // Both are texts, in which "" stands for none.
  const provider = textOf("provider") || undefined;
  const id = textOf("id");
  const party = owner ?? provider;
  if (party !== undefined) return { owner, provider, id: id ?? "", party, isSpecial: false };
  // Without an id the party alone names the special account.
  return specialAccount(id ?? "cip-112/mint", admin, () => values?.path(`cip-112/${name}.id`) ?? fields.path(name));
}

/** The party in a field that is a party in version 1 of the standard and an account in version 2. */
export function partyOf(fields: JsonReader, name: string, admin: string): string {
  return accountIn(fields, name, admin).party;
}

function specialAccount(id: string, admin: string, path: () => string): Account {
  if (SPECIAL_IDS.includes(id)) return { owner: undefined, provider: undefined, id, party: admin, isSpecial: true };
  throw invalidField(
    path(),
    `must name an owner or a provider, because the account's id is not ${SPECIAL_IDS.join(" or ")}, ` +
      `but the id is ${JSON.stringify(id)}`,
  );
}
